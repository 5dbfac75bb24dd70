"""The table of folders in docs/architecture.md: what each is for, its prefix, what it may include."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| \[`src/([\w/]+)`\]\(\.\./src/\1/README\.md\) \|[^|]*\|([^|]*)\|([^|]*)\|$", re.M)


def read():
    """{folder: (its prefixes, the folders that it may include)}; a folder may be a path: engine/sqlite/store."""
    rows = ROW.findall((ROOT / "docs/architecture.md").read_text())
    return {name: (re.findall(r"`(\w+)`", prefix), set(re.findall(r"`([\w/]+)`", uses))) for name, prefix, uses in rows}


def of(path, rooms):
    """The room of a path below src/: the longest one of the table that it lies in, or None."""
    parts = pathlib.PurePath(path).parts
    for n in range(len(parts) - 1, 0, -1):
        name = "/".join(parts[:n])
        if name in rooms:
            return name
    return None
