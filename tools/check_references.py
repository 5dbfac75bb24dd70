"""Every reference can be followed inside the repository: E-… entries and clarifications to docs/errata.md, "wire notes N.M" to
docs/wire-notes.md. What points to a document that is not here is a finding, too."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENTRY = re.compile(r"\bE-(?:COM|WORD|TRAN|SCHED|STATE)-\d+")
CLARIFICATION = re.compile(r"\bclarifications? (\d+(?:(?:, | and | to )\d+)*)", re.I)
CHAPTER = re.compile(r"\bwire notes(?:,)? (\d+(?:\.\d+)?(?:(?:, | and | to | – )\d+(?:\.\d+)?)*)", re.I)
ELSEWHERE = re.compile(r"\bcrib\b", re.I)
PICK = re.compile(r"\d+(?:\.\d+)?")
TEXT = {".c", ".h", ".py", ".md", ".proc", ".sql", ".sh", ".def", ".tsv", ".js", ".ini", ".go", ".pl", ".php", ".cs", ".java", ""}


def targets():
    errata = (ROOT / "docs/errata.md").read_text()
    entries = set(re.findall(r"^### (E-[A-Z]+-\d+)", errata, re.M))
    clarifications = set(re.findall(r"^(\d+)\. ", errata[errata.index("\n# Clarifications"):], re.M))
    chapters = set(re.findall(r"^#+ (\d+(?:\.\d+)?)", (ROOT / "docs/wire-notes.md").read_text(), re.M))
    return entries, clarifications, chapters


def documents():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in names.stdout.splitlines():
        path = ROOT / name
        if path.suffix in TEXT and path.is_file() and not name.startswith("fuzz/corpus/") and path != pathlib.Path(__file__).resolve():
            yield name, path


def main():
    entries, clarifications, chapters = targets()
    found = []
    for name, path in documents():
        try:
            lines = path.read_text().splitlines()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(lines, 1):
            missing = [e for e in ENTRY.findall(line) if e not in entries]
            missing += ["clarification " + n for m in CLARIFICATION.findall(line) for n in PICK.findall(m) if n not in clarifications]
            missing += ["wire notes " + n for m in CHAPTER.findall(line) for n in PICK.findall(m) if n not in chapters]
            missing += ELSEWHERE.findall(line)
            found += [f"{name}:{number}: {what} leads nowhere" for what in missing]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
