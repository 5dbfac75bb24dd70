"""Small rules that a compiler does not know: no unbounded string functions, no notes to self, no
number of an error where its name could stand, a comment at the top of every source file, headers
with a guard, lines of C up to 110 columns, comments and documents up to 100."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BANNED = re.compile(r"\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|alloca|atoi|atol)\s*\(")
LITERAL = re.compile(r"\bnumber\s*[=!]=\s*\d{3,}")
NOTES = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
CODE, PROSE = 110, 100
SKIPPED = {"build", "node_modules", ".git"}
# What cannot be broken: tables, headings, links, HTML comments, an indented example.
UNBROKEN = re.compile(r"^\s*(\||#|<|!?\[|    )|^\S+$")


def width(line):
    return len(line.expandtabs(8))


def wide_c(text):
    """(number, what) of each line of C that is too wide."""
    in_comment = False
    for number, line in enumerate(text.splitlines(), 1):
        comment = in_comment or line.lstrip().startswith("/*")
        if width(line) > (PROSE if comment else CODE):
            yield number, f"wider than {PROSE if comment else CODE} columns"
        if comment:
            in_comment = "*/" not in line


def wide_markdown(text):
    fence = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fence = not fence
        elif not fence and not UNBROKEN.match(line) and width(line) > PROSE:
            yield number, f"wider than {PROSE} columns"


def documents():
    # The manual of the procedures is written by tools/procgen.py, a line a sentence of the declaration.
    generated = ROOT / "docs/procedures"
    return sorted(p for p in ROOT.rglob("*.md")
                  if not SKIPPED & set(p.relative_to(ROOT).parts) and generated not in p.parents)


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
            if LITERAL.search(line) and path.parts[len(ROOT.parts)] == "src":
                found.append(f"{where}:{number}: compare with a name: ERR_…_NUMBER of base/err.h")
            if NOTES.search(line):
                found.append(f"{where}:{number}: finish it or leave it out: {NOTES.search(line)[1]}")
            if line != line.rstrip():
                found.append(f"{where}:{number}: blanks at the end of the line")
    for path in sorted(p for d in ("src", "tests", "fuzz", "bench") for p in (ROOT / d).rglob("*.[ch]")):
        if not SKIPPED & set(path.parts):
            found += [f"{path.relative_to(ROOT)}:{n}: {what}" for n, what in wide_c(path.read_text())]
    for path in documents():
        found += [f"{path.relative_to(ROOT)}:{n}: {what}" for n, what in wide_markdown(path.read_text())]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
