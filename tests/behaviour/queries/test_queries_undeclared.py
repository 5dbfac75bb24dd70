"""sp_describe_undeclared_parameters: the types that drivers are told for parameters which a text uses and nobody declared."""
import pytest

from support import wiretypes as t
from support.wire import Param, Wire

COLUMNS = ["parameter_ordinal", "name", "suggested_system_type_id", "suggested_system_type_name", "suggested_max_length", "suggested_precision",
           "suggested_scale", "suggested_user_type_id", "suggested_user_type_database", "suggested_user_type_schema", "suggested_user_type_name",
           "suggested_assembly_qualified_type_name", "suggested_xml_collection_id", "suggested_xml_collection_database",
           "suggested_xml_collection_schema", "suggested_xml_collection_name", "suggested_is_xml_document", "suggested_is_case_sensitive",
           "suggested_is_fixed_length_clr_type", "suggested_is_input", "suggested_is_output", "formal_parameter_name", "suggested_tds_type_id",
           "suggested_tds_length"]

# A text, and the types of its parameters in their order.
TYPES = {
    "SELECT * FROM dbo.Items WHERE Id = @P0": ["varchar(512)"],
    "SELECT * FROM dbo.Items WHERE @P0 <> Id": ["varchar(512)"],
    "SELECT * FROM dbo.Items WHERE Id > @P0": ["varchar(8000)"],
    "SELECT * FROM dbo.Items WHERE Expires BETWEEN @from AND @to": ["datetime", "datetime"],
    "SELECT * FROM dbo.Items WHERE Id IN (@a, 'x', @b)": ["varchar(512)", "varchar(512)"],
    "SELECT * FROM dbo.Items WHERE @a IN (Id, 'x')": ["varchar(512)"],
    "SELECT * FROM dbo.Items WHERE Id LIKE @P0": ["nvarchar(4000)"],
    "SELECT * FROM dbo.Items WHERE Id + @P0 = 'x'": ["varchar(8000)"],
    "SELECT * FROM dbo.Items i JOIN dbo.Items j ON i.Id = j.Id AND j.Id = @P0 WHERE EXISTS (SELECT 1 FROM dbo.Items k WHERE k.Expires > @P1)":
        ["varchar(512)", "datetime"],
    "SELECT TOP (@P0) Id FROM dbo.Items ORDER BY Id": ["bigint"],
    "SELECT Id FROM dbo.Items ORDER BY Id OFFSET @P0 ROWS FETCH NEXT @P1 ROWS ONLY": ["bigint", "bigint"],
    "SELECT CASE Id WHEN @P0 THEN 1 ELSE 0 END, CAST(@P1 AS decimal(9,2)), SUBSTRING(Id, @P2, 1) FROM dbo.Items": ["varchar(512)", "decimal(9,2)", "bigint"],
    "SELECT object_id, name FROM sys.indexes WHERE object_id = @id OR name = @name": ["int", "nvarchar(128)"],
    "SELECT name FROM sys.objects WHERE object_id = object_id + @P0 AND 1 = @P1": ["int", "int"],
    "SELECT name FROM sys.objects WHERE ISNULL(@P0, object_id) = 1 AND object_id IN (SELECT object_id FROM sys.columns WHERE column_id = @P1)": ["int", "int"],
    "SELECT 1 WHERE @P0 = 'x' AND @P1 > 2.5 AND (@P2 LIKE 'a%' OR NOT @P3 IN (1, 2))": ["varchar(1)", "numeric(38,19)", "nvarchar(4000)", "int"],
    "SELECT @P0 + 2, -@P1 + CAST(1 AS bigint), COALESCE(@P2, N'x'), UPPER(@P3)": ["int", "bigint", "nvarchar(4000)", "nvarchar(4000)"],
    "DECLARE @d datetime2(3); SET @d = @P0": ["datetime2(3)"],
    "IF @P0 = 1 PRINT @P1 ELSE RETURN @P2": ["int", "nvarchar(4000)", "int"],
    "EXEC proc_AddItem @P0, @P1, @P2": ["varchar(512)", "varbinary(max)", "int"],
    "EXEC StateService.dbo.proc_AddItem @timeout = @P0, @id = @P1": ["int", "varchar(512)"],
    "EXEC WordAutomation..proc_SubmitJob @P0": ["bigint"],
    "SELECT name FROM sys.objects WHERE object_id = OBJECT_ID(@a) AND name <> OBJECT_NAME(@b) AND DB_ID(@c) > 0": ["nvarchar(4000)", "int", "nvarchar(4000)"],
    "SELECT * FROM dbo.Items WHERE Expires < DATEADD(minute, @P0, GETDATE())": ["int"],
    "SELECT 1": [],
}
REFUSED = {
    "SELECT @P0": (11502, "@P0"), "SELECT Id, @P0 FROM dbo.Items": (11502, "@P0"), "SELECT * FROM dbo.Items WHERE @P0 IS NULL": (11502, "@P0"),
    "SELECT * FROM dbo.Items WHERE Id = @P0 AND @p0 = 'x'": (11508, "@p0"), "SELECT 1 WHERE @P0 = @P1": (11503, "'@P0' and '@P1'"),
    "SELECT 1 WHERE 1 = @P0 + @P1": (11503, "@P1"), "EXEC proc_Missing @P0": (2812, "proc_Missing"), "SELECT nothing FROM dbo.Items WHERE Id = @P0": (207, "nothing"),
    "SELECT * FROM dbo.Nothing WHERE Id = @P0": (208, "Nothing"), "SELECT 1 WHERE = @P0": (102, "="), "EXEC sp_executesql @P0": (11502, "@P0"),
}


@pytest.fixture(scope="module")
def w(server):
    with Wire(server).login(database="StateService") as made:
        yield made


def ask(w, text, declared=None):
    params = [Param(t.nvarchar_max(text))] + ([Param(t.nvarchar(declared))] if declared is not None else [])
    return w.rpc("sp_describe_undeclared_parameters", params)


def rows(answer):
    columns, found = answer.ok().results[0]
    assert [c.name for c in columns] == COLUMNS
    return [dict(zip(COLUMNS, row)) for row in found]


@pytest.mark.parametrize("text", TYPES)
def test_the_type_that_a_parameter_meets_is_suggested(w, text):
    found = rows(ask(w, text))
    assert [row["suggested_system_type_name"] for row in found] == TYPES[text]
    assert [row["parameter_ordinal"] for row in found] == list(range(1, len(found) + 1))


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_found_out_is_said(w, text):
    number, name = REFUSED[text]
    answer = ask(w, text)
    assert [e.number for e in answer.errors] == [number] and name in answer.errors[0].text
    assert w.batch("SELECT 1").ok().value == 1


def test_everything_about_a_parameter_is_told(w):
    (row,) = rows(ask(w, "EXEC proc_GetItemWithLock @id = 'x', @lockCookie = @P0 OUTPUT"))
    assert row == dict.fromkeys(COLUMNS) | {
        "parameter_ordinal": 1, "name": "@P0", "suggested_system_type_id": 56, "suggested_system_type_name": "int", "suggested_max_length": 4,
        "suggested_precision": 10, "suggested_scale": 0, "suggested_is_xml_document": False, "suggested_is_case_sensitive": False,
        "suggested_is_fixed_length_clr_type": False, "suggested_is_input": True, "suggested_is_output": True, "formal_parameter_name": "@lockCookie",
        "suggested_tds_type_id": 0x26, "suggested_tds_length": 4}


def test_what_is_only_set_is_no_input(w):
    found = rows(ask(w, "EXEC @rc = proc_DeleteItem @id; SELECT @n = COUNT(*) FROM dbo.Items"))
    assert [(r["name"], r["suggested_system_type_name"], r["suggested_is_input"], r["suggested_is_output"]) for r in found] == [
        ("@rc", "int", False, True), ("@id", "varchar(512)", True, False), ("@n", "int", False, True)]


def test_what_is_declared_is_left_out(w):
    found = rows(ask(w, "SELECT * FROM dbo.Items WHERE Id = @a AND Expires = @b", "@a varchar(10)"))
    assert [r["name"] for r in found] == ["@b"]


def test_it_is_asked_by_a_batch_as_well(w):
    answer = w.batch("EXEC sp_describe_undeclared_parameters @tsql = N'SELECT * FROM dbo.Items WHERE Id = @P0'").ok()
    assert answer.results[0][1][0][:2] == [1, "@P0"]


def test_it_is_asked_in_another_database(w):
    """As mssql-jdbc does, which names the catalogue of the connection; the session stays where it is."""
    answer = w.batch("EXEC WordAutomation.sys.sp_describe_undeclared_parameters N'SELECT * FROM dbo.Jobs WHERE JobId = @P0'").ok()
    assert answer.results[0][1][0][3] == "bigint"
    assert w.batch("EXEC WordAutomation..sp_describe_first_result_set N'SELECT JobId FROM dbo.Jobs'").ok().results[0][1][0][2] == "JobId"
    assert w.batch("SELECT DB_NAME()").value == "StateService"


def test_nothing_is_run(w):
    assert rows(ask(w, "EXEC proc_AddItem 'undeclared', 0x00, @minutes"))
    assert w.batch("SELECT COUNT(*) FROM dbo.Items WHERE Id = 'undeclared'").value == 0
