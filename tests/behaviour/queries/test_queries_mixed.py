"""Values of different types in one column: of UNION, CASE, ISNULL, and NULL, which has none of its own. Where T-SQL converts or
refuses, nothing else may come out: a text is not 0."""
import pytest

MASTER = "SELECT {} FROM sys.schemas WHERE schema_id = 1"

ANSWERS = {
    "SELECT NULL AS a, name FROM sys.schemas WHERE schema_id = 1 UNION ALL SELECT name, NULL FROM sys.schemas WHERE schema_id = 1":
        [(None, "dbo"), ("dbo", None)],
    "SELECT NULL AS a FROM sys.schemas WHERE schema_id = 1 UNION ALL SELECT NULL": [(None,), (None,)],
    "SELECT '12' AS a UNION ALL SELECT schema_id FROM sys.schemas WHERE schema_id = 1": [(12,), (1,)],
    MASTER.format("CASE WHEN schema_id = 1 THEN schema_id ELSE NULL END, CASE WHEN schema_id = 2 THEN NULL ELSE schema_id END"): [(1, 1)],
    MASTER.format("COALESCE(NULL, schema_id), ISNULL(NULL, name), NULLIF(schema_id, 1), ABS(NULL), schema_id + NULL, name + NULL"):
        [(1, "dbo", None, None, None, None)],
    MASTER.format("ISNULL(name, schema_id), COALESCE(NULLIF(name, 'dbo'), 'none')"): [("dbo", "none")],
    "SELECT name FROM sys.schemas WHERE schema_id = NULL OR name = NULL OR name IN (NULL, 'dbo') OR schema_id IN (NULL, 99)": [("dbo",)],
    # a sql_variant on the wire: an int (0x38) is inside
    "SELECT (SELECT COUNT(*) FROM sys.schemas WHERE schema_id = 1), SERVERPROPERTY('EngineEdition')": [(1, b"\x38\0\3\0\0\0")],
    "SELECT ISNULL(seed_value, 0), seed_value + 1 FROM sys.identity_columns WHERE seed_value > 0": [],
}

TOLD = {
    MASTER.format("CASE WHEN schema_id = 2 THEN 1 ELSE name END"): 245,
    MASTER.format("ISNULL(NULLIF(schema_id, 1), name)"): 245,
    MASTER.format("COALESCE(NULLIF(schema_id, 1), name)"): 245,
    "SELECT 1 AS x UNION ALL SELECT name FROM sys.schemas": 245,
    "SELECT name FROM sys.schemas UNION SELECT schema_id FROM sys.schemas": 245,
    "SELECT schema_id FROM sys.schemas UNION SELECT 'x'": 245,
    "SELECT name FROM sys.databases UNION ALL SELECT create_date FROM sys.databases": 50008,
    "SELECT name FROM sys.databases WHERE create_date > name": 50008,
}


@pytest.mark.parametrize("text", ANSWERS)
def test_values_become_what_their_column_is(db, text):
    result = db.batch(text)
    assert result.error is None, result
    assert result.rows == ANSWERS[text]


@pytest.mark.parametrize("text", TOLD)
def test_what_cannot_become_it_is_told(db, text):
    assert db.batch(text).error == TOLD[text]
