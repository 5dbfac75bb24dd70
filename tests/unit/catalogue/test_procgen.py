"""tools/procgen.py: what it accepts, what it refuses and where it says so, and what it writes."""
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from walk import ROOT, declare, emit_c
from procgen_lib import emit_docs, sqltext, types, verify

HEAD = """PROCEDURE p
    @a int,
    @b varchar(10) = NULL,
    @out int OUTPUT
LOCAL @n bigint
SECTION x
SUMMARY y
EXAMPLE
    EXEC p
AS
"""


def read(body, head=HEAD):
    return declare.Reader("p.proc", head + body, "p.proc").read()


class Declarations(unittest.TestCase):
    def refused(self, text, line, words, head=HEAD):
        with self.assertRaises(declare.DeclarationError) as e:
            read(text, head)
        self.assertTrue(str(e.exception).startswith(f"p.proc:{line}: "), str(e.exception))
        self.assertIn(words, str(e.exception))

    def test_head(self):
        p = read("RUN DELETE FROM t;", """PROCEDURE p
    @id varchar(512) NOT NULL,
    @t int = 5 RANGE 1 .. 9 ELSE 50003 'It''s 1 to 9, or so.'
SECTION [MS-X] 1.2
SUMMARY One
    sentence.
RETURNS 0
NEEDS admin
STATUS ON ERROR
EXAMPLE
    EXEC p
      @id = 'x'
AS
""")
        self.assertEqual((p.name, p.section, p.summary, p.needs, p.status_on_error), ("p", "[MS-X] 1.2", "One sentence.", "admin", True))
        self.assertEqual(p.example, "EXEC p\n  @id = 'x'")
        self.assertTrue(p.params[0].not_null)
        self.assertEqual(p.params[1].range, (1, 9, 50003, "It's 1 to 9, or so.", 16))
        self.assertEqual((p.params[1].has_default, p.params[1].default), (True, 5))

    def test_together(self):
        together = read("RUN DELETE FROM t;\nTOGETHER BY @b, @a\n    WITH x AS (SELECT @a FROM calls) SELECT place, 1, 2 FROM x;").together
        self.assertEqual(together.keys, [1, 0])
        self.assertEqual((together.ctes.sql, together.ctes.binds), ("x AS (SELECT ?1 FROM calls)", [("BIND_PARAM", 0)]))
        self.assertEqual(together.select.sql, "SELECT place, 1, 2 FROM x")

    def test_together_is_refused(self):
        self.refused("RUN DELETE FROM t;\nTOGETHER WITH x AS (SELECT 1) SELECT 1;", 12, "TOGETHER BY @a")
        self.refused("RUN DELETE FROM t;\nTOGETHER BY @zzz WITH x AS (SELECT 1) SELECT 1;", 12, "@zzz is not declared")
        self.refused("RUN DELETE FROM t;\nTOGETHER BY @a WITH x AS (SELECT 1);", 12, "ends with a SELECT")
        self.refused("ROWS (x int) SELECT 1;\nTOGETHER BY @a WITH x AS (SELECT 1) SELECT 1;", 12, "no rows")

    def test_variables_get_numbers_and_are_bound_once(self):
        s = read("RUN UPDATE t SET a = @A, b = ':now @a', c = :now /* @zzz */ WHERE x = @a AND y = \"@b\" -- @c\n AND z = @n;").steps[0].stmt
        self.assertEqual(s.sql, "UPDATE t SET a = ?1, b = ':now @a', c = ?2 WHERE x = ?1 AND y = \"@b\" AND z = ?3")
        self.assertEqual(s.binds, [("BIND_PARAM", 0), ("BIND_NOW", 0), ("BIND_PARAM", 3)])
        self.assertTrue(s.writes)

    def test_texts_are_trimmed_where_they_are_bound(self):
        s = read("RUN DELETE FROM t WHERE x = rtrim(@b) AND y = RTRIM(@b) AND z = @b AND u = rtrim(@a) AND v = rtrim(@b, '.') AND w = rtrim(x) AND q = 'rtrim(@b)';").steps[0].stmt
        self.assertEqual(s.sql, "DELETE FROM t WHERE x = ?1 AND y = ?1 AND z = ?2 AND u = rtrim(?3) AND v = rtrim(?2, '.') AND w = rtrim(x) AND q = 'rtrim(@b)'")
        self.assertEqual(s.binds, [("BIND_TRIMMED", 1), ("BIND_PARAM", 1), ("BIND_PARAM", 0)])

    def test_writes(self):
        for sql, writes in (("SELECT 1", False), ("WITH a AS (SELECT 1) DELETE FROM t", True), ("WITH a AS (SELECT 'DELETE') SELECT 1", False),
                            ("SELECT replace(a, 'b', 'c') FROM t", False), ("REPLACE INTO t VALUES (1)", True), ("VALUES (1)", False)):
            self.assertEqual(sqltext.writes(sql), writes, sql)

    def test_read_only(self):
        self.assertTrue(read("ROWS (x int) SELECT 1;").read_only)
        self.assertFalse(read("SET @n = UPDATE t SET x = 1 RETURNING x;").read_only)
        self.assertFalse(read("NATIVE f(@a) INTO @n;").read_only)

    def test_if_else_jumps(self):
        steps = read("IF @a = 1\n    RUN DELETE FROM t;\nELSE\n    IF CASE WHEN @a = 2\n THEN 1\n ELSE 0\n END\n RETURN 2;\nEND\nEND\nRUN DELETE FROM u;").steps
        self.assertEqual([(s.kind, s.jump) for s in steps], [("IF", 3), ("RUN", 0), ("IF", 5), ("IF", 5), ("RETURN", 0), ("RUN", 0)])
        self.assertIsNone(steps[2].stmt)
        self.assertEqual((steps[4].stmt, steps[4].number), (None, 2))
        self.assertEqual(steps[3].stmt.sql, "SELECT CASE WHEN ?1 = 2 THEN 1 ELSE 0 END")

    def test_what_the_last_step_found_is_asked_without_sql(self):
        steps = read("RUN DELETE FROM t;\nIF :count = 0 THEN\nRETURN 1;\nEND\nCHECK :count > 0 ELSE 50003 16 'none';\n").steps
        self.assertEqual([(s.kind, s.test, s.stmt is None) for s in steps[1:2] + steps[3:]], [("IF", "TEST_NOTHING", True), ("CHECK", "TEST_SOMETHING", True)])
        self.refused("IF :count = 1\nRETURN 1;\nEND", 11, ":count")

    def test_steps(self):
        p = read("""CHECK @a > 0 ELSE 50003 16 'Not {@A}; ''really''.';
SET @out, @n = SELECT 1, 2;
SET @n = coalesce(@n, 0);
ROWS (JobId bigint NOT NULL, [Odd name] decimal(9, 2)) SELECT 1, 2;
MESSAGE 50002 'told';
FAIL 50003 16 'no';
EACH rows_of(@b, :now) AS ($x int, $y int) INSERT INTO t VALUES ($y, $x, @a);
RETURN 3;
""")
        kinds = [s.kind for s in p.steps]
        self.assertEqual(kinds, ["CHECK", "SET", "SET", "ROWS", "MESSAGE", "CHECK", "EACH", "RETURN"])
        self.assertEqual(p.steps[0].text, "Not {@a}; 'really'.")
        self.assertEqual(p.steps[1].targets, [2, 3])
        self.assertEqual(p.steps[2].stmt.sql, "SELECT coalesce(?1, 0)")
        self.assertEqual([(c.name, c.nullable) for c in p.steps[3].columns], [("JobId", False), ("Odd name", True)])
        self.assertEqual(p.steps[6].stmt.binds, [("BIND_FIELD", 1), ("BIND_FIELD", 0), ("BIND_PARAM", 0)])
        self.assertEqual(p.steps[6].args, [("BIND_PARAM", 1), ("BIND_NOW", 0)])

    def test_mistakes_are_reported_with_their_line(self):
        self.refused("RUN DELETE FROM t WHERE a = @c;", 11, "@c is not declared")
        self.refused("RUN DELETE FROM t\n  WHERE a = $f;", 12, "$f is not declared")
        self.refused("RUN DELETE FROM t", 11, "';'")
        self.refused("DELETE FROM t;", 11, "a step begins with")
        self.refused("SET @a = 1;", 11, "only OUTPUT")
        self.refused("RUN DELETE FROM t;\nIF 1\nRUN DELETE FROM t;", 12, "END")
        self.refused("ELSE", 11, "without IF")
        self.refused("CHECK 1 ELSE 5 'x';", 11, "CHECK reads")
        self.refused("ROWS (x nosuch) SELECT 1;", 11, "nosuch")
        self.refused("RUN DELETE FROM t WHERE a = 'x;", 11, "unclosed")
        self.refused("FAIL 1 16 'x {@zz}';", 11, "@zz")
        self.refused("RUN SELECT ?1;", 11, "'?'")
        self.refused("ROWS (x int) SELECT 1;\nRUN DELETE FROM t;", 1, "what is SHORT", HEAD.replace("SUMMARY", "SHORT\nSUMMARY"))
        self.refused("", 6, "the line reads SHORT", HEAD.replace("SECTION", "SHORT of breath\nSECTION"))
        self.refused("", 6, "the line reads ONE ITEM", HEAD.replace("SECTION", "ONE\nSECTION"))
        for words in ("RUN DELETE FROM t;", "RUN INSERT INTO t (a) VALUES (1);", "TOGETHER BY @a\n    WITH x AS (DELETE FROM t) SELECT 1, 2 FROM x;"):
            self.refused(words, 1, "adds and deletes no rows", HEAD.replace("SUMMARY", "ONE ITEM\nSUMMARY"))
        self.refused("", 3, "varchar needs one length", HEAD.replace("varchar(10)", "varchar"))
        self.refused("", 2, "not understood", HEAD.replace("@a int", "@a int NULLABLE"))
        self.refused("", 5, "bigintt", HEAD.replace("bigint", "bigintt"))
        self.refused("", 6, "not a word of the head", HEAD.replace("SECTION", "SEKTION"))
        self.refused("", 1, "SUMMARY is missing", HEAD.replace("SUMMARY y\n", ""))
        self.refused("", 1, "declared twice", HEAD.replace("@n bigint", "@A bigint"))

    def test_types(self):
        self.assertEqual(types.parse("varbinary( max )").c(), "{ TYPE_VARBINARY, 0, 0, TYPE_MAX }")
        self.assertEqual(types.parse("decimal(9, 2)").text(), "decimal(9,2)")
        self.assertEqual(types.parse("sysname").text(), "nvarchar(128)")
        for bad in ("varchar(8001)", "nvarchar(4001)", "int(4)", "decimal(39)", "decimal(5,6)", "char(max)", "datetime2(8)", "varchar(0)"):
            with self.assertRaises(ValueError, msg=bad):
                types.parse(bad)


class Sql(unittest.TestCase):
    def test_a_slip_in_sql_is_found_with_its_line(self):
        s = declare.Service("state")
        s.migrations, s.schema_path = ["CREATE TABLE t (a INTEGER);"], "schema.sql"
        for body, words in (("RUN DELETE FROM nosuch;", "no such table"), ("ROWS (x int, y int) SELECT a FROM t;", "1 columns, 2 are declared"),
                            ("SET @n = SELECT a, a FROM t;", "2 columns, 1 are declared")):
            s.procs = [read(body)]
            with self.assertRaises(declare.DeclarationError) as e:
                verify.verify([s])
            self.assertIn("p.proc:11: ", str(e.exception))
            self.assertIn(words, str(e.exception))

    def test_likes_is_t_sqls_like(self):
        import sqlite3
        db = sqlite3.connect(":memory:")
        for value, pattern, expected in (("proc_AddItem", "proc[_]%", 1), ("procXAddItem", "proc[_]%", 0), ("proc_AddItem", r"PROC\_add%", 1),
                                         ("procXAdd", r"proc\_add", 0), ("abc", "a_c", 1), ("abc", "[a-b]bc", 1), ("abc", "[^a]bc", 0),
                                         ("a*c", "a*c", 1), ("abc", "a*c", 0), ("a?c", "a?_", 1), ("50%", "50[%]", 1), ("500", "50[%]", 0),
                                         ("a[b", r"a\[b", 1), ("a[b", "a[[]b", 1), ("abc", "ABC", 1), ("abc", "ab", 0), ("", "%", 1)):
            found = db.execute("SELECT " + sqltext.expand_macros("LIKES(?1, ?2)"), [value, pattern]).fetchone()[0]
            self.assertEqual(found, expected, (value, pattern))

    def test_schema_and_views_are_read(self):
        with tempfile.TemporaryDirectory() as d:
            os.mkdir(os.path.join(d, "state"))
            with open(os.path.join(d, "state", "schema.sql"), "w") as f:
                f.write("-- ERROR 2627 t.a,t.d 'It''s there.'\n-- MIGRATION 1\nCREATE TABLE t (a INTEGER, d INTEGER, UNIQUE (a, d));\n-- MIGRATION 2\nCREATE TABLE u (a);\n")
            with open(os.path.join(d, "state", "views.sql"), "w") as f:
                f.write("VIEW dbo.T1 ALSO dbo.T2 (A int NOT NULL, D datetime)\nSUMMARY s\nAS\nSELECT a, d FROM t;\n")
            services, _ = declare.read_all(d)
            state = services[4]
            self.assertEqual((len(state.migrations), state.constraints), (2, [(2627, "t.a, t.d", "It's there.")]))
            db = verify.open_store(state)
            db.execute("INSERT INTO t VALUES (1, 12 + 300 * 86400 * 2), (2, NULL)")
            self.assertEqual(db.execute('SELECT * FROM "T1"').fetchall(), [(1, "1900-01-03 00:00:00.040"), (2, None)])
            self.assertRegex(emit_c.tables(services), r'.name = "T2"[^\n]*.store_name = "view_T1"')

    def read_views(self, **files):
        with tempfile.TemporaryDirectory() as d:
            os.mkdir(os.path.join(d, "state"))
            files["schema"] = "-- MIGRATION 1\nCREATE TABLE t (a INTEGER, d TEXT, l TEXT);\n"
            for name, text in files.items():
                with open(os.path.join(d, "state", name + ".sql"), "w") as f:
                    f.write(text)
            services, _ = declare.read_all(d)
            verify.open_store(services[4])
            return services, {v.name: v for v in services[4].views}

    VIEWS = "VIEW dbo.Shown PER DATABASE PER LOGIN (A int)\nSUMMARY s\nAS\nSELECT a, d, l FROM t;\n"

    def test_empty_views_take_a_line_and_no_place_in_the_store(self):
        services, views = self.read_views(views=self.VIEWS, a_views="EMPTY sys.E ALSO dbo.e2 FUNCTION (LIKE dbo.Shown, B sysname NOT NULL);\n")
        self.assertEqual([c.name for c in views["E"].columns], ["A", "B"])
        self.assertEqual(sqlite3.connect(":memory:").execute(views["E"].sql).fetchall(), [])
        self.assertNotIn("sys_E", emit_c.views_sql(services[4]))
        self.assertRegex(emit_c.tables(services), r'.name = "e2"[^\n]*.inline_sql = [^\n]*.function = true')
        self.assertEqual(views["Shown"].hidden, ["database_name", "login_name"])

    def test_views_over_rows_of_the_session(self):
        _, views = self.read_views(views="ROWS r (x int, y int);\nVIEW sys.R OVER r (A int, B int)\nSUMMARY s\nAS\nSELECT q.y, 7 FROM r q WHERE q.x > 1;\n")
        rows = '[{"x": 1, "y": 2}, {"x": 3, "y": 4}]'
        got = sqlite3.connect(":memory:").execute(views["R"].sql.replace("$rows", "?"), [rows])
        self.assertEqual(([c[0] for c in got.description], got.fetchall()), (["A", "B"], [(4, 7)]))

    def test_mistakes_in_views_are_told_with_their_line(self):
        for text, told in (("EMPTY sys.E (LIKE dbo.Nothing);", "1: LIKE dbo.Nothing: no view of that name stands before"),
                           ("\nEMPTY sys.E (a int)\nSUMMARY x;", "2: EMPTY reads EMPTY"), ("EMPTY sys.E PER LOGIN (a int);", "1: EMPTY reads"),
                           ("VIEW sys.R OVER r (A int)\nSUMMARY s\nAS\nSELECT 1 FROM r;", "3: OVER r: no ROWS r"),
                           ("ROWS r (x int);\nVIEW sys.R OVER r (A int)\nSUMMARY s\nAS\nSELECT 1, 2 FROM r;", "4: sys.R has 1 columns and selects 2")):
            with self.assertRaisesRegex(declare.DeclarationError, "views.sql:" + told):
                self.read_views(views=text)

    def test_c_strings(self):
        self.assertEqual(emit_c.c_string('a"b\\c\u20ac1'), '"a\\"b\\\\c\\342\\202\\2541"')
        self.assertEqual(emit_c.c_string("a\nb", ""), '"a\\n"\n"b"')
        self.assertEqual(emit_c.c_string("??="), '"?\\?="')


class WholeTree(unittest.TestCase):
    def run_tool(self, *args):
        return subprocess.run([sys.executable, "-B", os.path.join(ROOT, "tools", "procgen.py"), *args], capture_output=True, text=True)

    def test_output_is_stable_and_the_depfile_names_folders(self):
        with tempfile.TemporaryDirectory() as d:
            for _ in range(2):
                done = self.run_tool("--out", d, "--depfile", os.path.join(d, "x.d"))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                stamps = {f: os.stat(os.path.join(d, f)).st_mtime_ns for f in os.listdir(d)}
            self.run_tool("--out", d, "--depfile", os.path.join(d, "x.d"))
            self.assertEqual(stamps, {f: os.stat(os.path.join(d, f)).st_mtime_ns for f in os.listdir(d)})
            with open(os.path.join(d, "x.d")) as f:
                self.assertIn(os.path.join("procedures", "state") + " ", f.read())

    def test_a_mistake_ends_with_1_and_writes_nothing(self):
        with tempfile.TemporaryDirectory() as d:
            os.makedirs(os.path.join(d, "in", "state"))
            with open(os.path.join(d, "in", "state", "p.proc"), "w") as f:
                f.write(HEAD + "RUN DELETE FROM t WHERE a = @zzz;\n")
            done = self.run_tool("--procedures", os.path.join(d, "in"), "--out", os.path.join(d, "out"))
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, "procedures/state/p.proc:11: @zzz is not declared\n")
            self.assertFalse(os.path.exists(os.path.join(d, "out")))

    def test_every_statement_compiles_and_object_ids_differ(self):
        services, _ = declare.read_all(os.path.join(ROOT, "procedures"))
        verify.verify(services)
        ids = [emit_c.object_id("P", s.name, p.name) for s in services for p in s.procs]
        ids += [emit_c.object_id("V", s.name, f"{a}.{b}") for s in services for v in s.views for a, b in emit_c.view_names(v)]
        self.assertEqual(len(ids), len(set(ids)))

    def test_no_service_hides_a_system_procedure(self):
        services, _ = declare.read_all(os.path.join(ROOT, "procedures"))
        system = {p.name.lower() for p in services[0].procs}
        for s in services[1:]:
            self.assertFalse(system & {p.name.lower() for p in s.procs})

    def test_pages_have_no_loose_ends(self):
        services, _ = declare.read_all(os.path.join(ROOT, "procedures"))
        for name, text in emit_docs.pages(services).items():
            self.assertTrue(text.endswith("\n"), name)
            self.assertNotIn("None |", text)


if __name__ == "__main__":
    unittest.main()
