"""Every folder of src/ that has code has a README.md with its promises, what it relies on and who uses it, and numbered
invariants; the files that it names are there. So are the functions of the table "by file and function" in
docs/architecture.md; and each file of the server that starts threads stands in the tables of threads there. Relative links in all documents lead somewhere, to a heading that is there where they name one; and every
page is found by following them from README.md."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELIES = re.compile(r"relies\W+on|\buses\b|may\s+use", re.I)
USED = re.compile(r"\bused\s+(only\s+)?(by|through)|(nothing|no\s+folder)\s+uses", re.I)
FILE = re.compile(r"`([\w/]+\.[ch])`")
GENERATED = {"catalogue_meta.c", "catalogue_tables.c"}
STEP = re.compile(r"^\| `([\w/]+\.c)` \| `(\w+)` \|", re.M)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
CODE = re.compile(r"^```.*?^```", re.M | re.S)


def documents():
    """All but what other people wrote and what was built."""
    foreign = {"node_modules", "build", ".git", ".pytest_cache"}
    return sorted(p for p in ROOT.rglob("*.md") if not foreign & set(p.relative_to(ROOT).parts))


def shortcomings(text, files):
    """What a folder's README lacks; files: the names of all files of src/."""
    if not re.search(r"^\s*1\. ", text, re.M):
        yield "no numbered invariants"
    if not RELIES.search(text):
        yield "does not say what it relies on"
    if not USED.search(text):
        yield "does not say who uses it"
    for name in FILE.findall(text):
        if name.rsplit("/", 1)[-1] not in files | GENERATED:
            yield f"names {name}, which is not there"


def lost_steps():
    """Rows of the way of a call whose function is not defined in that file."""
    rows = STEP.findall((ROOT / "docs/architecture.md").read_text())
    if not rows:
        yield "docs/architecture.md: no table by file and function"
    for name, function in rows:
        path = ROOT / "src" / name
        if not path.exists() or not re.search(rf"^\w.*\b{function}\(", path.read_text(), re.M):
            yield f"docs/architecture.md: {function} is not in src/{name}"


def lost_phases():
    """The phases of a session that the tour names are those of the table in session.c, in its order."""
    table = re.findall(r"^\t\[PHASE_\w+\] = \{ \"(\w+)\"", (ROOT / "src/session/session.c").read_text(), re.M)
    told = re.search(r"table of nine\s+phases \(([^)]*)\)", (ROOT / "docs/architecture.md").read_text())
    if len(table) != 9 or told is None or re.findall(r"`(\w+)`", told[1]) != table:
        yield f"docs/architecture.md: the phases of a session are {len(table)}: {', '.join(table)}"


# Programs of their own, which architecture.md leaves to their READMEs.
NOT_THE_SERVER = {"worker", "scheduler", "cli"}
STARTS = re.compile(r"\bthread_start\(&|\bMHD_start_daemon\(")


def unknown_threads():
    """Files of the server that start a thread which the tables of architecture.md do not have, and rows whose file starts none."""
    text = (ROOT / "docs/architecture.md").read_text()
    section = text[text.index("## Threads and who owns what"):].split("\n1. ")[0]
    told = set(re.findall(r"^\|[^|]+\| `([\w/]+\.c)` \|", section, re.M)) - {"daemon/main.c"}
    paths = [p for p in (ROOT / "src").rglob("*.c") if p.relative_to(ROOT / "src").parts[0] not in NOT_THE_SERVER]
    start = {str(p.relative_to(ROOT / "src")) for p in paths if STARTS.search(p.read_text())}
    for name in sorted(start - told):
        yield f"docs/architecture.md: the tables of threads do not have that of src/{name}"
    for name in sorted(told - start):
        yield f"docs/architecture.md: src/{name} starts no thread"


def anchors(path):
    """The names of a page's headings, as hosts of Git make them."""
    for heading in re.findall(r"^#+ (.*)", CODE.sub("", path.read_text()), re.M):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
        yield re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")


def links(path):
    """(what is written, the file, the heading or "") of each relative link of a page."""
    for target, anchor in LINK.findall(CODE.sub("", path.read_text())):
        if "://" not in target and not target.startswith("mailto:"):
            yield f"{target}#{anchor}" if anchor else target, (path.parent / target).resolve() if target else path, anchor


def lost_pages(pages):
    """Links that lead nowhere, and pages that no way from README.md leads to."""
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        for written, target, anchor in links(path):
            if not target.exists():
                yield f"{path.relative_to(ROOT)}: link to {written} leads nowhere"
            elif target.suffix == ".md":
                todo.append(target)
                if anchor and anchor not in anchors(target):
                    yield f"{path.relative_to(ROOT)}: link to {written}: there is no such heading"
    for path in pages:
        if path not in seen:
            yield f"{path.relative_to(ROOT)}: no page that README.md leads to has a link to it"


def main():
    found = [*lost_steps(), *lost_phases(), *unknown_threads()]
    code = list((ROOT / "src").rglob("*.[ch]"))
    files = {p.name for p in code}
    for folder in sorted({p.parent for p in code}):
        readme = folder / "README.md"
        if not readme.exists():
            found.append(f"{folder.relative_to(ROOT)}: no README.md")
            continue
        found += [f"{readme.relative_to(ROOT)}: {what}" for what in shortcomings(readme.read_text(), files)]
    found += lost_pages(documents())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
