"""The SQL of the system procedures: catalogue calls as drivers make them, and administration."""
import unittest

from walk import Failed, Store


class Catalogue(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s = Store("system")
        cls.s.db.execute("INSERT INTO database (id, name, service, file, created) VALUES (5, 'StateService', 'state', 'StateService.db', 1)")
        cls.s.database = "StateService"

    def rows(self, name, **args):
        out = self.s.call(name, **args).results
        self.assertEqual(len(out), 1)
        return out[0]

    def test_stored_procedures(self):
        rows = self.rows("sp_stored_procedures", sp_name="proc[_]%")
        self.assertEqual(len(rows), 8)
        self.assertEqual(rows[0], {"PROCEDURE_QUALIFIER": "StateService", "PROCEDURE_OWNER": "dbo", "PROCEDURE_NAME": "proc_AddItem;1",
                                   "NUM_INPUT_PARAMS": -1, "NUM_OUTPUT_PARAMS": -1, "NUM_RESULT_SETS": -1, "REMARKS": None, "PROCEDURE_TYPE": 2})
        self.assertEqual(len(self.rows("sp_stored_procedures", sp_name="proc_AddItem", fUsePattern=0)), 1)
        self.assertEqual(len(self.rows("sp_stored_procedures", sp_name="proc%", fUsePattern=0)), 0)
        self.assertEqual(len(self.rows("sp_stored_procedures", sp_name="PROC_ADDITEM;1", sp_owner="dbo", sp_qualifier="stateservice")), 1)
        with self.assertRaises(Failed) as e:
            self.rows("sp_stored_procedures", sp_qualifier="other")
        self.assertEqual(e.exception.number, 15250)

    def test_sproc_columns(self):
        for name in ("sp_sproc_columns", "sp_sproc_columns_90", "sp_sproc_columns_100"):
            rows = self.rows(name, procedure_name="proc_GetItemWithLock", ODBCVer=3, fUsePattern=0)
            self.assertEqual([r["COLUMN_NAME"] for r in rows], ["@RETURN_VALUE", "@id", "@item", "@locked", "@lockAgeInSeconds", "@lockCookie"])
            self.assertEqual([r["COLUMN_TYPE"] for r in rows], [5, 1, 2, 2, 2, 2])
            self.assertEqual([r["ORDINAL_POSITION"] for r in rows], [0, 1, 2, 3, 4, 5])
            self.assertEqual((rows[1]["DATA_TYPE"], rows[1]["PRECISION"], rows[1]["LENGTH"], rows[1]["TYPE_NAME"]), (12, 512, 512, "varchar"))
        self.assertEqual([rows[2][k] for k in ("DATA_TYPE", "TYPE_NAME", "PRECISION", "LENGTH")], [-3, "varbinary", 0, 0])
        old = self.rows("sp_sproc_columns", procedure_name="proc_AddItem", column_name="@item")
        self.assertEqual([old[0][k] for k in ("DATA_TYPE", "TYPE_NAME", "PRECISION")], [-4, "image", 2147483647])

    def test_datetime_depends_on_the_odbc_version(self):
        for version, code in ((2, 11), (3, 93)):
            rows = self.rows("sp_columns_100", table_name="databases", table_owner="sys", column_name="create_date", ODBCVer=version)
            self.assertEqual([r["DATA_TYPE"] for r in rows], [code])

    def test_managed_parameters(self):
        rows = self.rows("sp_procedure_params_100_managed", procedure_name="[dbo].[proc_GetItemWithLock]")
        self.assertEqual([(r["PARAMETER_NAME"], r["PARAMETER_TYPE"], r["MANAGED_DATA_TYPE"], r["CHARACTER_MAXIMUM_LENGTH"]) for r in rows],
                         [("@RETURN_VALUE", 4, 8, None), ("@id", 1, 22, 512), ("@item", 2, 21, -1), ("@locked", 2, 2, None),
                          ("@lockAgeInSeconds", 2, 8, None), ("@lockCookie", 2, 8, None)])
        self.assertIn("SS_DATETIME_PRECISION", rows[0])
        self.assertNotIn("SS_DATETIME_PRECISION", self.rows("sp_procedure_params_managed", procedure_name="proc_AddItem")[0])
        self.assertEqual(self.rows("sp_procedure_params_100_managed", procedure_name="nosuch"), [])
        self.assertEqual(len(self.rows("sp_procedure_params_rowset", procedure_name="proc_AddItem")), 4)
        self.assertEqual(len(self.rows("sp_procedure_params_managed", procedure_name="procession_grant", procedure_schema="dbo")), 4)

    def test_help(self):
        first, second = self.s.call("sp_help", objname="dbo.proc_AddItem").results
        self.assertEqual(first, [{"Name": "proc_AddItem", "Owner": "dbo", "Type": "stored procedure", "Created_datetime": 1}])
        self.assertEqual([(r["Parameter_name"], r["Type"], r["Length"], r["Prec"]) for r in second],
                         [("@id", "varchar", 512, 512), ("@item", "varbinary", -1, -1), ("@timeout", "int", 4, 10)])
        self.assertEqual(len(self.s.call("sp_help", objname="proc_DeleteExpiredItems").results), 1)
        self.assertEqual([r["Name"] for r in self.rows("sp_help")][:2], ["Items", "proc_AddItem"])
        view = self.s.call("sp_help", objname="Items").results
        self.assertEqual([r["Column_name"] for r in view[1]][:2], ["Id", "Locked"])
        with self.assertRaises(Failed) as e:
            self.s.call("sp_help", objname="nosuch")
        self.assertEqual(str(e.exception),
                         "15009: The object 'nosuch' does not exist in database 'StateService' or is invalid for this operation.")

    def test_helptext_is_the_declaration(self):
        rows = self.rows("sp_helptext", objname="proc_AddItem")
        self.assertEqual(rows[0]["Text"], "PROCEDURE proc_AddItem\r\n")
        self.assertTrue(all(len(r["Text"]) <= 255 for r in rows))
        source = self.s.db.execute("SELECT source FROM meta_procedure WHERE name = 'proc_AddItem'").fetchone()[0]
        self.assertEqual("".join(r["Text"] for r in rows).replace("\r\n", "\n"), source)

    def test_tables(self):
        rows = self.rows("sp_tables", table_type="'TABLE','VIEW'", table_owner="dbo")
        self.assertIn("Items", [r["TABLE_NAME"] for r in rows])
        self.assertEqual(self.rows("sp_tables", table_type="'TABLE'"), [])
        names = [r["TABLE_QUALIFIER"] for r in self.rows("sp_tables", table_name="", table_owner="", table_qualifier="%")]
        self.assertEqual(names, ["master", "StateService"])
        owners = [r["TABLE_OWNER"] for r in self.rows("sp_tables", table_name="", table_owner="%", table_qualifier="")]
        self.assertEqual(owners, ["INFORMATION_SCHEMA", "dbo", "sys"])
        kinds = [r["TABLE_TYPE"] for r in self.rows("sp_tables", table_name="", table_owner="", table_qualifier="", table_type="%")]
        self.assertEqual(kinds, ["SYSTEM TABLE", "TABLE", "VIEW"])
        self.assertEqual(len(self.rows("sp_columns", table_name="Items")), 7)

    def test_data_types(self):
        for data_type, names in ((12, ["varchar"]), (-9, ["nvarchar", "sysname"]), (-3, ["varbinary"]), (93, ["datetime2", "datetime", "smalldatetime"])):
            rows = self.rows("sp_datatype_info_100", data_type=data_type, ODBCVer=3)
            self.assertEqual([r["TYPE_NAME"] for r in rows], names)
        self.assertEqual([r["TYPE_NAME"] for r in self.rows("sp_datatype_info", data_type=11)], ["datetime", "smalldatetime"])
        codes = [r["DATA_TYPE"] for r in self.rows("sp_datatype_info_90")]
        self.assertEqual(codes, sorted(codes))

    def test_server_info(self):
        self.assertEqual(self.rows("sp_server_info", attribute_id=16), [{"ATTRIBUTE_ID": 16, "ATTRIBUTE_NAME": "IDENTIFIER_CASE", "ATTRIBUTE_VALUE": "MIXED"}])
        self.assertGreater(len(self.rows("sp_server_info")), 20)

    def test_empty_ones_have_their_columns(self):
        for name in ("sp_pkeys", "sp_fkeys", "sp_statistics", "sp_special_columns_100", "sp_column_privileges", "sp_table_privileges"):
            self.assertEqual(self.rows(name), [])

    def test_views_follow_the_database(self):
        def names(view, database):
            return [r[0] for r in self.s.db.execute(f"SELECT name FROM {view} WHERE database_name = ? ORDER BY name", [database])]
        self.assertEqual(len(names("sys_procedures", "StateService")), 8)
        self.assertIn("procession_grant", names("sys_procedures", "master"))
        self.assertEqual(names("sys_views", "StateService"), ["Items"])
        self.assertIn("sp_help", names("sys_all_objects", "StateService"))
        self.assertEqual(self.s.db.execute("SELECT count(*) FROM info_PARAMETERS WHERE database_name = 'StateService' AND PARAMETER_MODE = 'INOUT'").fetchone(), (8,))

    def test_databases(self):
        self.assertEqual([r["DATABASE_NAME"] for r in self.rows("sp_databases")], ["master", "StateService"])
        self.assertEqual([r["dbid"] for r in self.rows("sp_helpdb", dbname="stateservice")], [5])

    def test_who(self):
        self.s.natives["session_list"] = lambda: [(51, "runnable", "sa", "", 0, "master", "EXECUTE", "a"), (52, "suspended", "shop", "h", 51, "master", "SELECT", "b"),
                                                  (53, "sleeping", "shop", "h", 0, "master", "AWAITING COMMAND", "b")]
        for who, spids in ((None, [51, 52, 53]), ("SA", [51]), ("Active", [51, 52]), ("53", [53]), ("99", [])):
            self.assertEqual([r["spid"] for r in self.rows("sp_who", loginame=who)], spids)
        self.assertEqual(self.rows("sp_who")[1]["blk"], "51")
        with self.assertRaises(Failed) as e:
            self.rows("sp_who", loginame="nobody")
        self.assertEqual(e.exception.number, 15007)


class Administration(unittest.TestCase):
    def setUp(self):
        self.created, self.changed = [], []
        self.s = Store("system", {"password_hash": lambda p: ("hash of " + p,), "database_check": lambda n: ("ok",),
                                  "database_create": lambda *a: self.created.append(a) or ("id of " + a[0], a[0] + ".db"), "database_set": lambda *a: self.changed.append(a),
                                  "database_settle": lambda: None,
                                  "database_states": lambda: [("master", "online", None, "sqlite"), ("State 2", "online", None, "postgres"), ("W", "damaged", "it is missing", "sqlite")]})
        self.add("sa", admin=1)

    def add(self, name, password="long enough", **more):
        return self.s.call("procession_login_add", name=name, password=password, **more)

    def refused(self, words, name, /, **args):
        with self.assertRaises(Failed) as e:
            self.s.call(name, **args)
        self.assertEqual(e.exception.number, 50020)
        self.assertIn(words, str(e.exception))

    def test_logins(self):
        self.add("shop", default_database="MASTER")
        row = self.s.call("procession_login_list").results[0][1]
        self.assertEqual((row["name"], row["admin"], row["disabled"], row["created"]), ("shop", 0, 0, self.s.now))
        self.s.call("procession_login_passwd", name="SHOP", password="another one")
        self.assertEqual(self.s.db.execute("SELECT password_hash FROM login WHERE name = 'shop'").fetchone(), ("hash of another one",))
        self.refused("exists already", "procession_login_add", name="Shop", password="long enough")
        self.refused("too short", "procession_login_add", name="x", password="short")
        self.refused("no database 'nosuch'", "procession_login_add", name="x", password="long enough", default_database="nosuch")
        for name in ("", " x", "x'y", "a;b", "\u00e9", 'q"'):
            self.refused("A login name", "procession_login_add", name=name, password="long enough")
        self.refused("no login 'nobody'", "procession_login_passwd", name="nobody", password="long enough")
        self.refused("too short", "procession_login_passwd", name="shop", password="short")

    def test_the_last_administrator_stays(self):
        self.refused("last administrator", "procession_login_disable", name="sa")
        self.add("root", admin=1)
        self.s.call("procession_login_disable", name="sa")
        self.refused("last administrator", "procession_login_disable", name="root")
        self.s.call("procession_login_disable", name="sa", disabled=0)
        self.s.call("procession_login_disable", name="root")
        self.add("shop")
        self.s.call("procession_login_disable", name="shop")

    def test_databases(self):
        self.s.call("procession_database_create", name="State 2", service="State", errata="Literal")
        self.s.call("procession_database_create", name="W", service="word", commit="Relaxed", commit_interval=50)
        self.assertEqual(self.created, [("State 2", "state", "literal", 5), ("W", "word", "corrected", 6)])
        self.assertEqual(self.changed, [("State 2", "durable", 1000, "literal", 0), ("W", "relaxed", 50, "corrected", 0)])
        rows = self.s.call("procession_database_list").results[0]
        self.assertEqual([(r["state"], r["reason"], r["engine"]) for r in rows],
                         [("online", None, "sqlite"), ("online", None, "postgres"), ("damaged", "it is missing", "sqlite")])
        self.assertEqual([(r["database_id"], r["name"], r["service"], r["file"], r["errata"]) for r in rows],
                         [(1, "master", "system", "system.db", "corrected"), (5, "State 2", "state", "State 2.db", "literal"),
                          (6, "W", "word", "W.db", "corrected")])
        self.refused("exists already", "procession_database_create", name="state 2", service="state")
        self.refused("no service 'mail'", "procession_database_create", name="M", service="mail")
        self.refused("no service 'system'", "procession_database_create", name="M", service="system")
        self.refused("errata", "procession_database_create", name="M", service="word", errata="none")
        self.refused("commit setting", "procession_database_create", name="M", service="word", commit="never")
        self.refused("commit interval", "procession_database_create", name="M", service="word", commit_interval=9)
        self.refused("renewal slack", "procession_database_create", name="M", service="state", renewal_slack=3601)
        self.refused("kept for the server", "procession_database_create", name="TempDB", service="word")
        for name in ("", " x", "x ", "a/b", "..", "\u00e9", "x" * 129):
            self.refused("A database name", "procession_database_create", name=name, service="word")
        self.assertEqual(self.s.call("procession_database_check", name="w").results, [[{"name": "W", "report": "ok"}]])
        self.refused("no database 'nosuch'", "procession_database_check", name="nosuch")

    def test_grants(self):
        self.add("shop")
        for rights, shown in (("execute", "execute"), ("Select", "select"), ("execute, select", "execute,select"), ("select,execute", "execute,select")):
            self.s.call("procession_grant", login="SHOP", database="Master", rights=rights)
            self.assertEqual(self.s.call("procession_grant_list").results, [[{"login": "shop", "database": "master", "rights": shown}]])
        self.s.call("procession_grant", login="shop", database="master", rights="none")
        self.assertEqual(self.s.call("procession_grant_list").results, [[]])
        self.refused("no login", "procession_grant", login="nobody", database="master", rights="execute")
        self.refused("no database", "procession_grant", login="shop", database="nosuch", rights="execute")
        self.refused("The rights are", "procession_grant", login="shop", database="master", rights="write")


if __name__ == "__main__":
    unittest.main()
