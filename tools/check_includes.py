"""Compares the #include lines of src/ with the table of folders in docs/architecture.md: nothing includes upward, and
nobody includes another folder's private header (<folder>_int.h or a header the owner's README calls private)."""
import re
import sys

import rooms

ROOT = rooms.ROOT
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def table():
    """Folder → folders it may include."""
    return {name: uses for name, (_, uses) in rooms.read().items()}


def faults(allowed):
    src = ROOT / "src"
    for path in sorted(p for p in src.rglob("*.[ch]")):
        folder = rooms.of(path.relative_to(src), allowed)
        if folder is None:
            yield f"{path.relative_to(ROOT)}: its folder is not in the table of docs/architecture.md"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            where = f"{path.relative_to(ROOT)}:{number}"
            if "/" not in match[1]:
                if not (path.parent / match[1]).exists() and (src / folder / match[1]).exists():
                    yield f'{where}: write "{folder}/{match[1]}"'
                continue
            target = rooms.of(match[1], allowed)
            if target is None or target == folder:
                continue
            if target not in allowed[folder] | {"base"}:
                yield f"{where}: src/{folder} may not include src/{target}"
            elif match[1].endswith("_int.h"):
                yield f"{where}: {match[1]} is private to src/{target}"


def cycles(allowed):
    done, path = set(), []

    def visit(folder):
        if folder in path:
            yield " → ".join(path[path.index(folder):] + [folder])
        elif folder not in done:
            path.append(folder)
            for target in sorted(allowed.get(folder, ())):
                yield from visit(target)
            path.pop()
            done.add(folder)

    for folder in sorted(allowed):
        yield from visit(folder)


def main():
    allowed = table()
    found = list(faults(allowed)) + [f"the table has a circle: {c}" for c in cycles(allowed)]
    if not allowed:
        found.append("docs/architecture.md has no table of folders")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
