#!/usr/bin/env python3
"""Which requirement is proved by which test: docs/conformance.md from tests/requirements.tsv and the tests themselves.

    tools/conformance.py            writes docs/conformance.md
    tools/conformance.py --check    fails for a requirement that is neither proved nor open, for a test that names an unknown
                                    one, for one that is said to be open and yet proved, for one that nothing proves on
                                    PostgreSQL without a reason, and for a page that is out of date

Tests are read, not run: names stand in @proves("…") above a test function or its class, or in marks=proves("…") of one
of its rows. A test that is always skipped or expected to fail proves nothing and must not claim to. What runs on PostgreSQL
is in tests/on-postgres, but for tests with @sqlite_only("why") or @long_on_postgres("why").
"""
import ast
import collections
import csv
import pathlib
import sys

import on_postgres

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIST = ROOT / "tests" / "requirements.tsv"
PAGE = ROOT / "docs" / "conformance.md"
FIELDS = ["id", "section", "role", "words", "open"]
SERVICES = (
    ("WORD", "Conversion jobs", "MS-WORDSSP2"),
    ("TRAN", "Translation jobs", "MS-TSSPROC"),
    ("SCHED", "Scheduled jobs", "MS-SSPSJ"),
    ("STATE", "Temporary state", "MS-SPSTATE"),
)
HEAD = """# Conformance

What the four specifications ask for, in our own words, and the tests that prove it. They call the
real server through real drivers; see [tests/behaviour](../tests/behaviour/README.md). The page is
made by `tools/conformance.py`; `make test` fails when a requirement has no test and is not marked
as open, and when the page is out of date. Where a specification contradicts itself the database
setting `errata` picks the reading (`corrected` or `literal`); the tests of both job services run
under both.

`make test` runs them on SQLite, all of them, and on PostgreSQL. The last column says which ones
there: "the same", or all but those that it names with their reasons. What is left out as a whole,
and why, is in [tests/on-postgres](../tests/on-postgres).

"""


class Mistake(Exception):
    pass


def requirements():
    """{id: row} in the order of the list."""
    with open(LIST, encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    if rows[0] != FIELDS:
        raise Mistake(f"{LIST.name}: the first line must be: {' '.join(FIELDS)}")
    found = {}
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(FIELDS) or not all(row[:4]):
            raise Mistake(f"{LIST.name}:{number}: five fields, the first four not empty")
        item = dict(zip(FIELDS, row))
        if item["id"] in found:
            raise Mistake(f"{LIST.name}:{number}: {item['id']} stands there twice")
        found[item["id"]] = item
    return found


def name_of(node):
    """The last part of a dotted name: pytest.mark.skip gives skip."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def claims(decorators, where):
    """The requirement names in some decorators."""
    ids, excused = [], False
    for decorator in decorators:
        excused = excused or name_of(decorator) in ("skip", "xfail")
        for node in ast.walk(decorator):
            if isinstance(node, ast.Call) and name_of(node) == "proves":
                for arg in node.args:
                    if not (isinstance(arg, ast.Constant) and isinstance(arg.value, str)):
                        raise Mistake(f"{where}:{node.lineno}: proves() takes string constants only")
                    ids.append(arg.value)
    if ids and excused:
        raise Mistake(f"{where}: a test that is skipped or expected to fail proves nothing")
    return ids


def excuse(decorators):
    """Why a test does not run on PostgreSQL by itself."""
    for decorator in decorators:
        if name_of(decorator) == "long_on_postgres":
            return "make test-long only: " + decorator.args[0].value
        if name_of(decorator) == "sqlite_only":
            return decorator.args[0].value
    return ""


def tests():
    """Yields (id, file, test, why it is not run on PostgreSQL, or "") for every claim."""
    known = on_postgres.rules()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        where = path.relative_to(ROOT).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"), where)
        folder = on_postgres.why_not(where, known)
        if folder is None and "proves(" in path.read_text(encoding="utf-8"):
            raise Mistake(f"{where}: {on_postgres.LIST.name} does not say whether it runs on PostgreSQL")
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                shared = claims(node.decorator_list, where)
                for inner in node.body:
                    if isinstance(inner, ast.FunctionDef) and inner.name.startswith("test"):
                        for one in shared + claims(inner.decorator_list, where):
                            yield one, where, inner.name, folder or excuse(node.decorator_list + inner.decorator_list)
            elif isinstance(node, ast.FunctionDef):
                for one in claims(node.decorator_list, where):
                    if not node.name.startswith("test"):
                        raise Mistake(f"{where}:{node.lineno}: {node.name} is not a test and proves nothing")
                    yield one, where, node.name, folder or excuse(node.decorator_list)


def link(where, name):
    return f"[{name.removeprefix('test_').replace('_', ' ')}](../{where})"


def on_both(proofs):
    """The cell about PostgreSQL: proofs of one requirement as (file, test, why not)."""
    left_out = {}
    for where, name, why in proofs:
        if why:
            left_out.setdefault(why, []).append(link(where, name))
    if not left_out:
        return "the same"
    told = "; ".join(f"{', '.join(dict.fromkeys(links))} ({why})" for why, links in left_out.items())
    return f"all but {told}" if any(not why for _, _, why in proofs) else f"no: {'; '.join(left_out)}"


def page(items, proofs):
    out = [HEAD]
    for prefix, title, text in SERVICES:
        mine = [i for i in items.values() if i["id"].startswith(prefix + "-")]
        open_ = [i for i in mine if i["open"]]
        there = sum(1 for i in mine if any(not why for _, _, why in proofs[i["id"]]))
        out.append(f"## {title} ({text})\n\n{len(mine)} requirements, {len(mine) - len(open_)} proved, {len(open_)} open; "
                   f"{there} proved on PostgreSQL.\n\n")
        out.append("| ID | section | what it asks for | proved by | on PostgreSQL |\n| --- | --- | --- | --- | --- |\n")
        for i in mine:
            links = list(dict.fromkeys(link(*p[:2]) for p in proofs[i["id"]]))
            proved = "open: " + i["open"] if i["open"] else "; ".join(links)
            words = i["words"].replace("|", "\\|")
            out.append(f"| {i['id']} | {i['section']} | {words} | {proved} | {on_both(proofs[i['id']]) if not i['open'] else 'open'} |\n")
        out.append("\n")
    return "".join(out).rstrip("\n") + "\n"


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    items, proofs, faults = requirements(), collections.defaultdict(list), []
    for one, where, name, why in tests():
        proofs[one].append((where, name, why))
        if one not in items:
            faults.append(f"{where}: {name} names {one}, which is not in {LIST.name}")
    for one, item in items.items():
        if proofs[one] and item["open"]:
            faults.append(f"{LIST.name}: {one} is marked as open and yet proved by {proofs[one][0][1]}")
        if not proofs[one] and not item["open"]:
            faults.append(f"{LIST.name}: {one} has no test: {item['words']}")
    text = page(items, proofs)
    if not check:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        faults.append("docs/conformance.md is out of date: run tools/conformance.py")
    for fault in faults:
        print(fault, file=sys.stderr)
    done = sum(1 for i in items.values() if not i["open"] and proofs[i["id"]])
    there = sum(1 for i in items.values() if any(not why for _, _, why in proofs[i["id"]]))
    print(f"conformance: {len(items)} requirements, {done} proved, {sum(1 for i in items.values() if i['open'])} open; {there} on PostgreSQL")
    return 1 if faults and check else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Mistake as mistake:
        sys.exit(str(mistake))
