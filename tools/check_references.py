"""Every reference can be followed inside the repository: E-… entries and clarifications to docs/errata.md, "wire notes N.M" to
docs/wire-notes.md. What points to a document that is not here is a finding, too; so is a source file that a comment or a page
names and that is not there (any more), and one that calls itself by another name."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENTRY = re.compile(r"\bE-(?:COM|WORD|TRAN|SCHED|STATE)-\d+")
CLARIFICATION = re.compile(r"\bclarifications? (\d+(?:(?:, | and | to )\d+)*)", re.I)
CHAPTER = re.compile(r"\bwire notes(?:,)? (\d+(?:\.\d+)?(?:(?:, | and | to | – )\d+(?:\.\d+)?)*)", re.I)
ELSEWHERE = re.compile(r"\bcrib\b", re.I)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
SOURCE = re.compile(r"(?<![\w/.*<>{}$%'-])((?:[\w-]+/)*[\w-]+\.(?:[ch]|py|def|inc))\b(?![\w(*/<])")
HEAD = re.compile(r"/\* ([\w.-]+\.[ch]) — ")
# Made while building, or of a library.
NOT_OURS = {"catalogue_tables.c", "catalogue_meta.c", "web_files.c", "LibreOfficeKitEnums.h"}
# What was, and is told as such.
HISTORY = ("CHANGELOG.md", "docs/performance")
PICK = re.compile(r"\d+(?:\.\d+)?")
TEXT = {".c", ".h", ".py", ".md", ".proc", ".sql", ".sh", ".def", ".tsv", ".js", ".ini", ".go", ".pl", ".php", ".cs", ".java", ".inc", ""}


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


def source_findings(name, text, files):
    """(line, what) of each source file that is named in the comments of a C file, or in a page, and does not exist."""
    if name.startswith(HISTORY):
        return
    if name.endswith((".c", ".h")):
        head = HEAD.match(text)
        if name.startswith("src/") and (head is None or head[1] != name.rsplit("/", 1)[1]):
            yield 1, "the first line does not name the file"
        spans = [(m.start(), m[0]) for m in COMMENT.finditer(text)]
    elif name.startswith(("src/", "docs/")) and name.endswith(".md"):
        spans = [(0, text)]
    else:
        return
    for start, part in spans:
        for m in SOURCE.finditer(part):
            if m[1] not in NOT_OURS and not any(path == m[1] or path.endswith("/" + m[1]) for path in files):
                yield text.count("\n", 0, start + m.start()) + 1, f"{m[1]} leads nowhere"


def main():
    entries, clarifications, chapters = targets()
    found = []
    everything = list(documents())
    files = [name for name, _ in everything]
    for name, path in everything:
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        lines = text.splitlines()
        found += [f"{name}:{number}: {what}" for number, what in source_findings(name, text, files)]
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
