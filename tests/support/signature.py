"""What a signature promises, checked the same way for every procedure: metadata, order, names, required and optional parameters."""
TYPES = {       # as sp_sproc_columns names them: (TYPE_NAME, PRECISION)
    "varchar(512)": ("varchar", 512), "varbinary(max)": ("varbinary", 0), "int": ("int", 10), "bit": ("bit", 1), "uniqueidentifier": ("uniqueidentifier", None),
    "nvarchar(256)": ("nvarchar", 256), "nvarchar(128)": ("nvarchar", 128), "nvarchar(64)": ("nvarchar", 64), "nvarchar(32)": ("nvarchar", 32), "ntext": ("ntext", None), "datetime": ("datetime", None),
}


def check_metadata(db, proc, expected):
    """expected: list of (name, type, output). The driver's view of the parameters: names, order, types, directions."""
    rows = [row for row in db.batch(f"EXEC sp_sproc_columns_100 @procedure_name = N'{proc}'").dicts() if row["COLUMN_NAME"] != "@RETURN_VALUE"]
    assert [row["COLUMN_NAME"] for row in rows] == ["@" + name for name, _, _ in expected]
    assert [row["ORDINAL_POSITION"] for row in rows] == list(range(1, len(rows) + 1))
    for row, (name, kind, output) in zip(rows, expected):
        type_name, precision = TYPES[kind]
        assert row["TYPE_NAME"] == type_name, (proc, name)
        assert row["COLUMN_TYPE"] == (2 if output else 1), (proc, name)
        if precision is not None:
            assert row["PRECISION"] == precision, (proc, name)


def check_arguments(db, proc, good, optional=()):
    """good() gives a fresh set of valid values in order of declaration. By name and by position it works; each required one is missed with 201."""
    known = [p[0] for p in db.signature(proc)]
    assert list(good()) == known, "the test must give every parameter, in order"
    ok = db.call(proc, **good())
    assert ok.error is None, ok
    assert db.positional(proc, *good().values()).error is None
    assert db.call(proc.upper(), **{}).error == (201 if set(known) - set(optional) else None)       # also: case of the name is free
    for name in known:
        values = {n: v for n, v in good().items() if n != name}
        result = db.call(proc, _only=True, **values)
        if name in optional:
            assert result.error is None, (proc, name, result)
        else:
            assert result.error == 201, (proc, name, result)
            assert "@" + name in result.errors[0][2], "the message names the parameter"
            assert result.status is None
    assert db.call(proc, **good(), Nonsense=1).error in (8144, 8145)
