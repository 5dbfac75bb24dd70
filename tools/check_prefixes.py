"""What a folder of src/ exports begins with the folder's prefix: the symbols of the objects of the plain build, compared with
the table in docs/architecture.md; and what has no symbol, the inline functions and the macros with arguments of its headers (but for those
that a header defines for a .def file and takes back). Constants and types are vocabulary. Folders whose row names no prefix (vocabulary: one
a header) are left out."""
import pathlib
import re
import subprocess
import sys

import rooms

OBJECTS = rooms.ROOT / "build/meson/src"
ALLOWED = {"main"}
INLINE = re.compile(r"^(?:MUST_CHECK\s+)?static inline [^;{=]*?\b(\w+)\(", re.M)
MACRO = re.compile(r"^#define (\w+)\(", re.M)
TAKEN_BACK = re.compile(r"^#undef (\w+)", re.M)


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


def in_headers(table):
    """(folder, name) of what the headers define themselves."""
    for path in sorted((rooms.ROOT / "src").rglob("*.h")):
        text = path.read_text()
        for name in INLINE.findall(text) + sorted(set(MACRO.findall(text)) - set(TAKEN_BACK.findall(text))):
            yield rooms.of(path.relative_to(rooms.ROOT / "src"), table), name


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
        found.append((room_of(where, table), symbol))
    found = [f"src/{room}: {name} does not begin with {' or '.join(table[room][0])}" for room, name in [*found, *in_headers(table)]
             if room and table[room][0] and name not in ALLOWED and not name.lower().startswith(tuple(table[room][0]))]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
