"""Functions of text mean the same over a column as over a variable: the store computes the one, the evaluator the other."""
import uuid

import pytest

from support.calls import create_database, open_path
from support import wiretypes as t
from support.wire import Param

TEXTS = ("plain Text", "nul\0inside", "\0first", "last\0", "\0", "two\0\0 \0", "  blanks both  ", "ends in nul blank\0  ", "", "   ",
         "Über ÄÖÜ éàç×÷ß", "grin \U0001F600 and € end", "\U0001F600\0\U0001F600", "lone \ud83d high", "aXbxAxc%_[d]", "1234")
EXPRESSIONS = (
    "LEN({})", "LEN({} + 'x')", "UPPER({})", "LOWER({})", "LTRIM({})", "RTRIM({})", "TRIM({})", "LEFT({}, 0)", "LEFT({}, 5)", "LEFT({}, 500)", "RIGHT({}, 0)", "RIGHT({}, 4)",
    "RIGHT({}, 500)", "SUBSTRING({}, 1, 3)", "SUBSTRING({}, 4, 4)", "SUBSTRING({}, 0, 3)", "SUBSTRING({}, -2, 5)", "SUBSTRING({}, -2, 2)", "SUBSTRING({}, 6, 0)",
    "SUBSTRING({}, 400, 5)", "SUBSTRING({}, 5, 2147483647)", "SUBSTRING({}, 7, 1)", "REPLACE({}, 'X', '--')", "REPLACE({}, NCHAR(0), '0')", "REPLACE({}, 'n', NCHAR(0))",
    "REPLACE({}, '', 'y')", "REPLACE({}, {}, 'all')", "CHARINDEX('X', {})", "CHARINDEX('', {})", "CHARINDEX(NCHAR(0), {})", "CHARINDEX('end', {})", "CHARINDEX('IN', {})",
    "CHARINDEX({}, N'a plain text')", "CONCAT({}, '|', {})", "{} + '|' + {}", "CAST({} AS nvarchar(4))", "CAST({} AS nvarchar(max))", "CONVERT(nvarchar(7), {})",
    "ISNULL({}, 'x')", "NULLIF({}, 'last' + NCHAR(0))", "COALESCE(NULLIF({}, 'plain Text'), 'plain')", "CASE WHEN {} LIKE '%' + NCHAR(0) + '%' THEN 1 ELSE 0 END",
    "CASE WHEN {} LIKE 'nul_in%' THEN 1 ELSE 0 END", "CASE WHEN {} LIKE '%[^a-z ]' THEN 1 ELSE 0 END", "CASE WHEN {} LIKE '%[x-' + NCHAR(1) + ']%' THEN 1 ELSE 0 END",
    "CASE WHEN {} LIKE '% both' THEN 1 ELSE 0 END", "CASE WHEN {} LIKE '' THEN 1 ELSE 0 END", "CASE WHEN {} LIKE '[A-Z]%[D]]' THEN 1 ELSE 0 END",
    "CASE WHEN {} LIKE '%!%!_[[]%!' ESCAPE '!' THEN 1 ELSE 0 END", "CASE WHEN {} LIKE '%[]-a]%' THEN 1 ELSE 0 END",
    "CASE WHEN {} LIKE '%' ESCAPE NULL THEN 1 ELSE 0 END", "CASE WHEN {} LIKE 1234 THEN 1 ELSE 0 END", "CASE WHEN {} NOT LIKE NULL THEN 1 ELSE 0 END",
    "CAST({} AS nchar(20)) + '|'", "CAST({} AS nchar(2)) + '|'", "LEFT({}, '3')", "LEFT({}, 2.7)", "LEFT({}, NULL)", "CHARINDEX(NULL, {})", "REPLACE({}, 'x', NULL)",
    "CONCAT({}, 1.50, CAST('2020-01-02T03:04:00' AS datetime), NULL)", "REPLACE({}, 'a', CAST('2020-01-02' AS date))", "CHARINDEX(0x74, {})",
    "CASE WHEN {} = 'nul' + NCHAR(0) + 'inside' THEN 1 ELSE 0 END", "CASE WHEN {} = 'nul' THEN 1 ELSE 0 END", "CASE WHEN {} > 'nul' + NCHAR(0) THEN 1 ELSE 0 END",
    "CASE WHEN {} < 'last' THEN 1 ELSE 0 END", "CASE WHEN {} > 'lone ' + NCHAR(65500) THEN 1 ELSE 0 END", "CASE WHEN {} > 'lone ' + NCHAR(1) THEN 1 ELSE 0 END",
)
GROUP = '<group xmlns="http://schemas.microsoft.com/office/server/word/2009/08/databaseJobAdd"><item {}/></group>'


@pytest.fixture(scope="module")
def texts(server):
    """Jobs that have these texts as names, in the order of their numbers."""
    name = "Texts" + uuid.uuid4().hex[:8]
    create_database(server, name, "word")
    with open_path("wire", server, name, "WordAutomation") as db:
        for number, text in enumerate(TEXTS):
            assert db.call("proc_AddJob", JobId=number, Settings="<s/>", PartitionId=None, Name=text).status == 0
        yield db


@pytest.fixture(scope="module")
def numbers(server):
    """One job with one item."""
    name = "Numbers" + uuid.uuid4().hex[:8]
    create_database(server, name, "word")
    with open_path("wire", server, name, "WordAutomation") as db:
        assert db.call("proc_AddJob", JobId=4321, Settings="<s/>", PartitionId=None, Name="plain Text").status == 0
        assert db.call("proc_AddGroup", JobId=4321, GroupId=1, InputRoot="in", MaxAttemptsCount=1, JobXml=GROUP.format('id="54321" in="77"')).status == 0
        yield db


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_columns_are_as_variables(texts, expression):
    over_rows = texts.batch(f"SELECT {expression.replace('{}', 'Name')} FROM dbo.Jobs ORDER BY JobId")
    assert over_rows.error is None, over_rows
    for number, text in enumerate(TEXTS):
        answer = texts.wire.executesql(f"SELECT {expression.replace('{}', '@v')}", "@v nvarchar(256)", [Param(t.nvarchar(text), "@v")]).ok()
        assert over_rows.rows[number][0] == answer.rows[0][0], (text, expression)


@pytest.mark.parametrize("expression, parts", (
    ("STRING_AGG(InputFile, '; ')", ("; ", {1: ["a.docx", "b.docx", "c.docx"], 2: ["a.docx", "b.docx", "c.docx"]})),
    ("STRING_AGG(OutputFile, N' – ')", (" – ", {1: ["a.pdf", "c.pdf"], 2: ["a.pdf", "c.pdf"]})),                    # NULLs are left out, with their separators
    ("STRING_AGG(CAST(ItemId AS nvarchar(9)), ',')", (",", {1: ["1", "2", "3"], 2: ["1", "2", "3"]})),
    ("STRING_AGG(CASE WHEN JobId = 1 THEN OutputFile END, ',')", (",", {1: ["a.pdf", "c.pdf"], 2: None})),               # nothing but NULLs: NULL
))
def test_string_agg(filled, expression, parts):
    """T-SQL promises no order within a group without WITHIN GROUP, which is refused."""
    separator, expected = parts
    answer = filled.batch(f"SELECT JobId, {expression} FROM dbo.Items GROUP BY JobId ORDER BY JobId")
    assert answer.error is None, answer
    assert {job: text and sorted(text.split(separator)) for job, text in answer.rows} == expected


def test_string_agg_of_everything_and_of_nothing(filled):
    everything, = filled.batch("DECLARE @s nvarchar(9) = N'' SELECT STRING_AGG(OutputFile, @s) FROM dbo.Items").rows[0]
    assert len(everything) == 4 * len("a.pdf") and everything.count("a.pdf") == everything.count("c.pdf") == 2
    assert filled.batch("SELECT STRING_AGG(OutputFile, ',') FROM dbo.Items WHERE 1 = 0").rows == [(None,)]
    assert filled.batch("SELECT JobId FROM dbo.Items GROUP BY JobId HAVING STRING_AGG(OutputFile, '') LIKE '%.pdf%' ORDER BY 1").rows == [(1,), (2,)]
    assert filled.batch("SELECT STRING_AGG(OutputFile, InputFile) FROM dbo.Items").error == 8733
    assert filled.batch("SELECT STRING_AGG(OutputFile, ',') WITHIN GROUP (ORDER BY ItemId) FROM dbo.Items").error == 50008


@pytest.mark.parametrize("expression, error", (
    ("LEFT({}, -1)", 537), ("RIGHT({}, -1)", 537), ("SUBSTRING({}, 2, -1)", 537), ("LEFT({}, LEN({}) - 100)", 537), ("LEFT({}, 'x')", 8114)))
def test_bad_lengths_are_told(texts, expression, error):
    """SQLite would take a negative length for one that counts backwards."""
    over_rows = texts.batch(f"SELECT {expression.replace('{}', 'Name')} FROM dbo.Jobs")
    computed = texts.batch(f"DECLARE @v nvarchar(256) = 'plain' SELECT {expression.replace('{}', '@v')}")
    assert over_rows.errors[0][:3] == computed.errors[0][:3] and over_rows.error == error
    assert texts.batch("SELECT COUNT(*) FROM dbo.Jobs WHERE LEFT(Name, 5) = 'plain'").rows == [(1,)]        # and nothing of it stays


CASTS = {"j.Name": ("nvarchar(256)", "'plain Text'"), "j.JobId": ("bigint", "4321"), "i.ItemId": ("int", "54321"), "CAST(i.ItemId AS float)": ("float", "54321.0"),
         "'1' + i.InputFile": ("nvarchar(99)", "'177'")}


@pytest.mark.parametrize("target", ("varchar(3)", "nvarchar(3)", "char(9)", "nchar(12)", "varchar(max)", "varchar(20)", "tinyint", "smallint", "int", "bigint", "bit", "float", "real"))
@pytest.mark.parametrize("column", CASTS)
def test_casts_of_columns_are_as_of_variables(numbers, column, target):
    """A number is shown whole or not at all, a text that is no number is told: SQLite cuts the one and takes the other for 0."""
    kind, value = CASTS[column]
    for form in (f"CAST({{}} AS {target})", f"CONVERT({target}, {{}})", f"ISNULL(CAST({{}} AS {target}), '0')"):
        over_rows = numbers.batch(f"SELECT {form.format(column)} FROM dbo.Jobs j CROSS JOIN dbo.Items i")
        computed = numbers.batch(f"DECLARE @v {kind} = {value} SELECT {form.format('@v')}")
        assert [e[:3] for e in over_rows.errors] == [e[:3] for e in computed.errors]
        assert (over_rows.rows or []) == (computed.rows or [])
    if target in ("char(9)", "nchar(12)"):
        padded = f"CAST({{}} AS {target}) + '|'"
        assert numbers.batch(f"SELECT {padded.format(column)} FROM dbo.Jobs j CROSS JOIN dbo.Items i").rows == numbers.batch(
            f"DECLARE @v {kind} = {value} SELECT {padded.format('@v')}").rows


@pytest.mark.parametrize("target, least, most", (("tinyint", 0, 255), ("smallint", -2**15, 2**15 - 1), ("int", -2**31, 2**31 - 1), ("bigint", -2**63, 2**63 - 1)))
def test_the_ends_of_whole_numbers(numbers, target, least, most):
    for number in (least - 1, least, most, most + 1):
        over_rows = numbers.batch(f"SELECT CAST(CONCAT('{number}', LEFT(Name, 0)) AS {target}) FROM dbo.Jobs")
        computed = numbers.batch(f"DECLARE @v nvarchar(99) = '{number}' SELECT CAST(@v AS {target})")
        assert (over_rows.rows or []) == (computed.rows or []) == ([(number,)] if least <= number <= most else [])
        assert [e[:3] for e in over_rows.errors] == [e[:3] for e in computed.errors]


@pytest.mark.parametrize("condition", (
    "{n} = '4321'", "'4321' = {n}", "{n} = 'x'", "'x' < {n}", "{n} BETWEEN '1' AND '9999'", "{t} = 5", "5 <> {t}", "CASE {t} WHEN 5 THEN 1 ELSE 0 END = 0", "LEFT('12', {n} - 4320) = 1",
    "LEFT('12', {n} - 4320) = 1.0", "LEFT('1.5', {n}) = 1.5", "LEFT('1.5', {n}) = 1", "1.5 = LEFT('1.5', {n})", "LEFT('1', {n}) = CAST(1 AS money)", "LEFT('2', {n}) > 0.5e0", "{n} = LEFT(' 4321 ', {n})",
    "LEFT('99999999999', {n}) = 1", "LEFT('', {n}) = 0", "LEFT('true', {n}) = CAST(1 AS bit)"))
def test_a_text_that_meets_a_number_becomes_one(numbers, condition):
    form = f"SELECT CASE WHEN {condition} THEN 1 ELSE 0 END"
    over_rows = numbers.batch(form.format(n="JobId", t="Name") + " FROM dbo.Jobs")
    computed = numbers.batch("DECLARE @n bigint = 4321, @t nvarchar(256) = 'plain Text' " + form.format(n="@n", t="@t"))
    assert [e[:3] for e in over_rows.errors] == [e[:3] for e in computed.errors]
    assert (over_rows.rows or []) == (computed.rows or [])


def test_identifiers_with_nul(db, key):
    """The same through another service: StateService counts and cuts an identifier behind U+0000."""
    assert db.call("proc_AddItem", id=key + "\0tail", item=b"x", timeout=5).status == 0
    found = db.batch(f"SELECT LEN(Id), RIGHT(Id, 5), SUBSTRING(Id, {len(key) + 1}, 2), CHARINDEX(NCHAR(0), Id) FROM dbo.Items WHERE Id LIKE '{key}_TAIL'")
    assert found.rows == [(len(key) + 5, "\0tail", "\0t", len(key) + 1)]
