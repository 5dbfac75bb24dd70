"""Small rules that a compiler does not know: no unbounded string functions, no notes to self, a comment at the top of
every source file, headers with a guard."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BANNED = re.compile(r"\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|alloca|atoi|atol)\s*\(")
NOTES = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def main():
    found = []
    for path in sorted(p for d in ("src", "tests/unit", "fuzz") for p in (ROOT / d).rglob("*.[ch]")):
        text = path.read_text()
        where = path.relative_to(ROOT)
        if not text.startswith("/*"):
            found.append(f"{where}:1: no comment that says what the file is for")
        if path.suffix == ".h" and "#ifndef" not in text:
            found.append(f"{where}: no include guard")
        for number, line in enumerate(text.splitlines(), 1):
            if BANNED.search(line):
                found.append(f"{where}:{number}: {BANNED.search(line)[1]} is not used here")
            if NOTES.search(line):
                found.append(f"{where}:{number}: finish it or leave it out: {NOTES.search(line)[1]}")
            if line != line.rstrip():
                found.append(f"{where}:{number}: blanks at the end of the line")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
