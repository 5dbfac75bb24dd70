"""The tables of docs/architecture.md: the folders, what each is for, its prefix, what it may include; the threads. And the end of the
tools that draw them."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| \[`src/([\w/]+)`\]\(\.\./src/\1/README\.md\) \|[^|]*\|([^|]*)\|([^|]*)\|$", re.M)


def read():
    """{folder: (its prefixes, the folders that it may include)}; a folder may be a path: engine/sqlite/store."""
    rows = ROW.findall((ROOT / "docs/architecture.md").read_text())
    return {name: (re.findall(r"`(\w+)`", prefix), set(re.findall(r"`([\w/]+)`", uses))) for name, prefix, uses in rows}


def threads():
    """The tables of threads, in their order: of each the rows, as (name, file, what it runs)."""
    text = (ROOT / "docs/architecture.md").read_text()
    section = text[text.index("## Threads and who owns what"):].split("\n1. ")[0]
    tables = re.split(r"^\| thread \|.*\n\|[ -|]*\n", section, flags=re.M)[1:]
    return [re.findall(r"^\| ([^|]+) \| `([\w/]+\.c)` \| ([^|]+) \|", t, re.M) for t in tables]


def picture(name, drawn):
    """Writes docs/img/NAME, or, with --check, looks whether it is what would be drawn. Gives the status of the program."""
    path = ROOT / "docs/img" / name
    if "--check" not in sys.argv[1:]:
        path.write_text(drawn)
        return 0
    if path.exists() and path.read_text() == drawn:
        return 0
    print(f"docs/img/{name} is not what docs/architecture.md says: run {sys.argv[0]}", file=sys.stderr)
    return 1


def of(path, rooms):
    """The room of a path below src/: the longest one of the table that it lies in, or None."""
    parts = pathlib.PurePath(path).parts
    for n in range(len(parts) - 1, 0, -1):
        name = "/".join(parts[:n])
        if name in rooms:
            return name
    return None
