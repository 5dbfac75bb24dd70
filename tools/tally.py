"""Adds up a test run: meson's JSON logs, pytest's JUnit files and the checks of test.sh.
The last line is "N passed, N failed"; the status is 1 when something failed or nothing ran."""
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

CMOCKA = re.compile(r"\[  (PASSED|FAILED)  \] (\d+) test\(s\)")


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.names = []

    def add(self, passed, failed=0, skipped=0, name=None):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        if failed:
            self.names.append(name)


def add_meson(tally, path):
    """Counts the tests inside a cmocka program; a program that died counts as one failure more."""
    for line in path.read_text().splitlines():
        run = json.loads(line)
        text = (run.get("stdout") or "") + (run.get("stderr") or "")
        inner = {"PASSED": 0, "FAILED": 0}
        for kind, count in CMOCKA.findall(text):
            inner[kind] += int(count)
        good = run["result"] in ("OK", "EXPECTEDFAIL")
        if run["result"] == "SKIP":
            tally.add(0, 0, 1)
        elif good:
            tally.add(max(inner["PASSED"], 1))
        else:
            tally.add(inner["PASSED"], max(inner["FAILED"], 1), 0, f"{path.stem}: {run['name']}")


def add_junit(tally, path):
    for case in ET.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            tally.add(0, 1, 0, name)
        elif case.find("skipped") is not None:
            tally.add(0, 0, 1)
        else:
            tally.add(1)


def main(folder):
    tally = Tally()
    for path in sorted(folder.glob("*.json")):
        add_meson(tally, path)
    for path in sorted(folder.glob("*.xml")):
        add_junit(tally, path)
    checks = folder / "checks.txt"
    for line in checks.read_text().splitlines() if checks.exists() else []:
        _, name, result = line.split()
        tally.add(result == "passed", result != "passed", 0, name)
    for name in tally.names:
        print("failed:", name)
    if tally.skipped:
        print(f"{tally.skipped} skipped (the reports say why)")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
