"""Every folder of src/ that has code has a README.md with its promises and numbered invariants; relative links in all
documents lead somewhere."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def documents():
    """All but what other people wrote and what was built."""
    foreign = {"node_modules", "build", ".git", ".pytest_cache"}
    return sorted(p for p in ROOT.rglob("*.md") if not foreign & set(p.relative_to(ROOT).parts))


def main():
    found = []
    for folder in sorted({p.parent for p in (ROOT / "src").rglob("*.[ch]")}):
        readme = folder / "README.md"
        if not readme.exists():
            found.append(f"{folder.relative_to(ROOT)}: no README.md")
        elif not re.search(r"^\s*1\. ", readme.read_text(), re.M):
            found.append(f"{readme.relative_to(ROOT)}: no numbered invariants")
    for path in documents():
        for target in LINK.findall(path.read_text()):
            if "://" not in target and not target.startswith("mailto:") and not (path.parent / target).exists():
                found.append(f"{path.relative_to(ROOT)}: link to {target} leads nowhere")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
