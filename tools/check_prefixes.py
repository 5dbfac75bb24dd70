"""What a folder of src/ exports begins with the folder's prefix: the symbols of the objects of the plain build, compared with
the table in docs/architecture.md. Folders whose row names no prefix (vocabulary: one a header) are left out."""
import pathlib
import subprocess
import sys

import rooms

OBJECTS = rooms.ROOT / "build/meson/src"
ALLOWED = {"main"}


def exported():
    """(object file, symbol) of everything that other files can see."""
    files = sorted(OBJECTS.rglob("*.o"))
    if not files:
        sys.exit("there is no plain build to look at: run make build")
    out = subprocess.run(["nm", "-A", "--defined-only", "-g", *map(str, files)], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        where, _, rest = line.partition(".o:")
        kind, symbol = rest.split()[1:3]
        if kind in "TDBRC":
            yield pathlib.Path(where).relative_to(OBJECTS), symbol


def room_of(where, table):
    """The objects of src/a/b lie in a/b/libb.a.p; a library whose name is a room of its own is that room."""
    library = where.parent.name.removeprefix("lib").removesuffix(".a.p")
    return library if library in table else rooms.of(where.parent, table)


def main():
    table = rooms.read()
    found = []
    for where, symbol in exported():
        if where.name.startswith(".._"):    # a file of another folder, built once more for a program
            continue
        room = room_of(where, table)
        prefixes = table[room][0] if room else []
        if prefixes and symbol not in ALLOWED and not symbol.startswith(tuple(prefixes)):
            found.append(f"src/{room}: {symbol} does not begin with {' or '.join(prefixes)}")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
