"""Finds writable globals: looks at the symbols of the built objects of src/ (nm), and fails on each that lies in a writable section, unless the line of its
definition, or the comment before it, says why it must be: "global: reason". What is in question: state that everybody shares and nobody owns. Logging and the
flag of the signal that stops the server are two, and what a library leaves no other way for.

    tools/check_globals.py [BUILD]      BUILD has the objects; default build/meson
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WRITABLE = re.compile(r"^(\.data(?!\.rel\.ro)|\.bss|\.tdata|\.tbss|\*COM\*)")
REASON = re.compile(r"\bglobal: \w+")
COMMENT_LINES = 6


def symbols(build):
    """(object file, symbol) of everything writable."""
    for path in sorted((build / "src").rglob("*.o")):
        out = subprocess.run(["nm", "--format=sysv", str(path)], capture_output=True, text=True, check=True).stdout
        for line in out.splitlines():
            fields = [f.strip() for f in line.split("|")]
            if len(fields) == 7 and fields[3] in ("OBJECT", "TLS") and WRITABLE.match(fields[6]) and not fields[0].startswith(("__", "..")):
                yield path, fields[0].split(".")[0]


def source_of(obj, build):
    """build/meson/src/x/libx.a.p/sub_file.c.o → src/x/sub/file.c; None: it is generated."""
    folder = obj.relative_to(build).parent.parent
    name = obj.name.removesuffix(".o")
    for candidate in (name, name.replace("_", "/", 1), name.replace("_", "/", 2)):
        if (ROOT / folder / candidate).is_file():
            return ROOT / folder / candidate
    return None


def is_explained(lines, symbol):
    definition = re.compile(rf"^\s*(static\b.*|[A-Za-z_}}].*)\b{re.escape(symbol)}\b")
    for i, line in enumerate(lines):
        if definition.match(line) and any(REASON.search(text) for text in lines[max(0, i - COMMENT_LINES):i + 1]):
            return True
    return False


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/meson").resolve()
    if not (build / "src").is_dir():
        print(f"check_globals: {build} has no objects. Build first: tools/build.sh plain")
        return 1
    faults = []
    for obj, symbol in symbols(build):
        source = source_of(obj, build)
        if source is None or not is_explained(source.read_text().splitlines(), symbol):
            shown = obj.relative_to(build) if source is None else source.relative_to(ROOT)
            faults.append(f"{shown}: {symbol} is a writable global. Give it an owner, or say why not in a comment before it: global: reason")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
