"""Every folder of src/ that has code has a README.md with its promises, what it relies on and who uses it, and numbered
invariants; the files that it names are there. So are the functions of the table "by file and function" in
docs/architecture.md. Relative links in all documents lead somewhere."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELIES = re.compile(r"relies\W+on|\buses\b|may\s+use", re.I)
USED = re.compile(r"\bused\s+(only\s+)?(by|through)|(nothing|no\s+folder)\s+uses", re.I)
FILE = re.compile(r"`([\w/]+\.[ch])`")
GENERATED = {"catalogue_meta.c", "catalogue_tables.c"}
STEP = re.compile(r"^\| `([\w/]+\.c)` \| `(\w+)` \|", re.M)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


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


def main():
    found = list(lost_steps())
    code = list((ROOT / "src").rglob("*.[ch]"))
    files = {p.name for p in code}
    for folder in sorted({p.parent for p in code}):
        readme = folder / "README.md"
        if not readme.exists():
            found.append(f"{folder.relative_to(ROOT)}: no README.md")
            continue
        found += [f"{readme.relative_to(ROOT)}: {what}" for what in shortcomings(readme.read_text(), files)]
    for path in documents():
        for target in LINK.findall(path.read_text()):
            if "://" not in target and not target.startswith("mailto:") and not (path.parent / target).exists():
                found.append(f"{path.relative_to(ROOT)}: link to {target} leads nowhere")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
