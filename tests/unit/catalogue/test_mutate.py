"""tools/mutate.py: what it breaks, and that each breakage is one place and still a declaration."""
import contextlib
import io
import os
import sys
import tempfile
import unittest
import unittest.mock

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tools"))

from mutate_lib import known, operators  # noqa: E402
from mutate_lib.crew import OPTIONS, Choice  # noqa: E402
from mutate_lib.trial import Trial  # noqa: E402
from procgen_lib import declare  # noqa: E402

TEXT = """PROCEDURE p
    @a     int NOT NULL RANGE 1 .. 9 ELSE 50003 'bad',
    @b     int = NULL,
    @name  nvarchar(64) ANY LENGTH
SECTION here
SUMMARY It does something.
RETURNS 0
STATUS ON ERROR
EXAMPLE
    EXEC p 1
AS
CHECK @a < 5 ELSE 547 16 'too much';
IF @b IS NULL THEN
RUN UPDATE t SET x = @a, y = 1 WHERE id = @a AND (z IS NOT DISTINCT FROM @b OR z IS NULL);
END
ROWS (Id int NOT NULL, Name nvarchar(64)) SELECT id, rtrim(name) FROM t LEFT JOIN u ON u.n = t.n WHERE x >= :now ORDER BY id, name DESC LIMIT 5;
RETURN 1;
"""
WANTED = (
    ("NULL is taken", "@a     int RANGE 1"), ("drop a RANGE", "@a     int NOT NULL,"), ("another bound", "RANGE 2 .. 9"), ("another bound", "RANGE 1 .. 10"),
    ("another error", "ELSE 50004 'bad'"), ("drop a default", "@b     int,"), ("another default", "@b     int = 1"), ("NULL is refused", "@b     int = NULL NOT NULL"),
    ("longer texts are refused", "@name  nvarchar(64)\n"), ("another length", "@name  nvarchar(63)"), ("another type", "@name  varchar(64)"),
    ("swap two parameters", "PROCEDURE p\n    @b     int = NULL,\n    @a "), ("another status", "RETURNS 1"), ("drop a line of the head", "RETURNS 0\nEXAMPLE"),
    ("a result set more", "AS\nROWS (More int) SELECT 1;\nCHECK"), ("needs no right", "NEEDS nothing\nEXAMPLE"), ("drop a CHECK", "AS\n\nIF"), ("another comparison", "CHECK @a <= 5"), ("another class", "547 15"),
    ("always", "IF 1 = 1 THEN"), ("never", "IF 1 = 0 THEN"), ("drop an assignment", "SET y = 1 WHERE"), ("drop an assignment", "SET x = @a WHERE"),
    ("drop the condition before AND", "WHERE (z IS NOT"), ("drop the condition after AND", "WHERE id = @a;"), ("drop the condition after OR", "(z IS NOT DISTINCT FROM @b)"),
    ("NULL equals nothing", "(z = @b OR"), ("IS NOT NULL", "OR z IS NOT NULL)"), ("another variable", "WHERE id = @b AND"), ("a column takes NULL", "(Id int, Name"),
    ("a column takes no NULL", "Name nvarchar(64) NOT NULL)"), ("another name", "(IdX int"), ("swap two columns", "SELECT rtrim(name), id FROM"), ("drop rtrim()", "SELECT id, (name) FROM"),
    ("an inner join", "FROM t JOIN u"), ("drop a WHERE", "u.n = t.n  ORDER BY"), ("an earlier clock", "x >= (:now - 300)"), ("the other direction", "BY id DESC, name DESC"),
    ("the other direction", "BY id, name  LIMIT"), ("drop a key of the order", "BY name DESC"), ("drop ORDER BY", ":now  LIMIT"), ("drop a LIMIT", "name DESC ;"),
    ("another number", "LIMIT 6"), ("drop a RETURN", "LIMIT 5;\n\n"),
)
# Tests that fail as PLAN says: by test or fixture, then by server, a letter for each time (the last one goes on).
TRIED = """
import os, pytest
PLAN, times = %r, {}

def happen(what):
    key = what, os.environ["PROCESSIOND"]
    times[key] = times.get(key, 0) + 1
    plan = PLAN.get(what, {}).get(key[1], "P")
    assert plan[:times[key]][-1] == "P"

@pytest.fixture(scope="session")
def wide():
    happen("wide")

def test_a(wide):
    happen("a")

def test_b():
    happen("b")

def test_c():
    happen("c")
"""


class Operators(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        path = os.path.join(self.folder.name, "p.proc")
        with open(path, "w", encoding="utf-8") as f:
            f.write(TEXT)
        self.source = operators.Source(path, "x/p", "p.proc")
        self.mutants = self.source.mutants()

    def test_what_is_broken(self):
        for operator, text in WANTED:
            self.assertTrue(any(m.operator == operator and text in m.text for m in self.mutants), f"{operator}: {text}")

    def test_each_is_another_text_and_a_declaration(self):
        self.assertEqual(len({m.text for m in self.mutants} | {TEXT}), len(self.mutants) + 1)
        for m in self.mutants:
            declare.Reader("p.proc", m.text, "p.proc").read()

    def test_what_is_postgresqls_alone_stays_whole(self):
        """The servers of breakages have SQLite."""
        alone = "POSTGRES\n    SELECT id, rtrim(name) FROM t WHERE x > 17 ORDER BY id"
        with open(self.source.path, "w", encoding="utf-8") as f:
            f.write(TEXT.replace(" LIMIT 5;", "\n" + alone + ";"))
        later = operators.Source(self.source.path, "x/p", "p.proc").mutants()
        self.assertTrue(any(m.operator == "the other direction" for m in later))
        self.assertEqual([m.operator for m in later if alone not in m.text], ["drop a ROWS"])
        for m in later:
            declare.Reader("p.proc", m.text, "p.proc").read()

    def test_keys_tell_them_apart_and_outlive_other_lines(self):
        keys = [m.key for m in self.mutants]
        self.assertEqual(len(set(keys)), len(keys))
        with open(self.source.path, "w", encoding="utf-8") as f:
            f.write(TEXT.replace("AS\n", "AS\n-- One line more.\n"))
        later = {m.key for m in operators.Source(self.source.path, "x/p", "p.proc").mutants()}
        self.assertEqual(later, set(keys))


class Equivalents(unittest.TestCase):
    def read(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".equivalent", encoding="utf-8") as f:
            f.write(text)
            f.flush()
            return known.read(f.name)

    def test_blocks(self):
        found = self.read("# words\n\nx/p\n- a\n- b\n+ c\n= because\n= of that\n\nx/p 2\n- a\n= why\n")
        self.assertEqual(found, {("x/p", ("a", "b"), ("c",), 1): "because of that", ("x/p", ("a",), (), 2): "why"})

    def test_a_reason_is_needed(self):
        for bad in ("x/p\n- a\n+ b\n", "x/p\n= why\n", "x/p\n- a\nwords\n= why\n", "x/p\n- a\n= why\n\nx/p\n- a\n= why\n"):
            with self.assertRaises(known.ListError):
                self.read(bad)


class Trials(unittest.TestCase):
    """When a breakage counts as noticed."""

    def run_plan(self, plan):
        found = {}
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), unittest.mock.patch.dict(os.environ):
            path = os.path.join(folder, "test_tried.py")
            with open(path, "w", encoding="utf-8") as f:
                f.write(TRIED % plan)
            options = OPTIONS[:OPTIONS.index("--rootdir")]
            choice = Choice("state", lambda choice, items: found.update(Trial(choice, "broken", "sound").run(items)))
            pytest.main(options + ["--rootdir", folder, "-c", os.devnull, "--import-mode=importlib", path], plugins=[choice])
        return found["result"], found["test"] and found["test"].rpartition("::")[2]

    def test_who_fails_twice_notices(self):
        self.assertEqual(self.run_plan({"b": {"broken": "F"}}), ("noticed", "test_b"))
        self.assertEqual(self.run_plan({"b": {"broken": "FP"}}), ("survived", None))

    def test_a_set_up_must_work_with_the_sound_server(self):
        self.assertEqual(self.run_plan({"wide": {"broken": "F"}}), ("noticed", "test_a"))
        self.assertEqual(self.run_plan({"wide": {"broken": "F", "sound": "F"}}), ("late", None))
        self.assertEqual(self.run_plan({"wide": {"broken": "F", "sound": "F"}, "c": {"broken": "F"}}), ("noticed", "test_c"))

    def test_a_set_up_is_really_tried_again(self):
        self.assertEqual(self.run_plan({"wide": {"broken": "FP"}}), ("survived", None))

    def test_what_shows_now_and_then(self):
        three = {name: {"broken": "FP"} for name in "abc"}
        self.assertEqual(self.run_plan(three), ("survived", None))
        self.assertEqual(self.run_plan({**three, "b": {"broken": "FPF"}}), ("noticed", "test_c"))
        self.assertEqual(self.run_plan({**three, "b": {"broken": "FPF", "sound": "F"}}), ("survived", None))


if __name__ == "__main__":
    unittest.main()
