"""Many calls of one procedure as one function of PL/pgSQL, from TOGETHER of its declaration: the calls come as arrays, a column of the table
`calls` each, in the order of the arrays (`place`). A call that gets no row of the answer was not done: the server runs it by its own function.

Rows of the answer: those of the procedure's own function (pg_function.py), then _place.
"""
from . import pg_function, pg_sql


class Together:
    def __init__(self, proc):
        self.proc, self.one = proc, pg_function.Function(proc)
        self.args = [pg_function.Arg("PG_ARG_CLOCK", "int8", 0, 0, "a_clock")]
        self.ctes, self.select = self.sql(proc.together.ctes), self.sql(proc.together.select)

    def argument(self, source, kind, index, name):
        if name not in [a.name for a in self.args]:
            self.args.append(pg_function.Arg(source, kind, index, 0, name))
        return name

    def bind(self, bind):
        source, index = bind
        if source == "BIND_NOW":
            return "v_now"
        if source in ("BIND_SLACK", "BIND_LITERAL"):
            return self.argument("PG_ARG" + source[4:], "int8", 0, "a_" + source[5:].lower())
        name = (self.proc.params + self.proc.locals)[index].name[1:].lower()
        if source == "BIND_TRIMMED":
            return "calls." + self.argument("PG_ARG_TRIMMED", "text", index, "t_" + name)
        assert source == "BIND_PARAM" and index < len(self.proc.params)
        return "calls." + self.argument("PG_ARG_VALUE", self.one.kinds[index], index, "v_" + name)

    def sql(self, stmt):
        return pg_sql.numbered(pg_sql.dialect(stmt.sql), lambda n: self.bind(stmt.binds[n - 1]))

    @property
    def each(self):
        """The arguments that every call has of its own."""
        return [a for a in self.args if a.source in ("PG_ARG_VALUE", "PG_ARG_TRIMMED")]

    @property
    def name(self):
        return f'"{self.proc.name} together"'

    def create(self):
        kinds = [self.one.kinds[i] for i in self.one.outputs]
        ins = ", ".join(f"{a.name} {a.kind}{'[]' if a in self.each else ''}" for a in self.args)
        outs = list(pg_function.FIXED) + [(f"o{k}", kind) for k, kind in enumerate(kinds, 1)] + [("_place", "int8")]
        names = ", ".join(a.name for a in self.each)
        values = "".join(f", {pg_sql.WRAPPED[k]}(q.c{i})" for i, k in enumerate(kinds, 1))
        columns = "".join(f", c{i}" for i in range(1, len(kinds) + 1))
        return (f"CREATE OR REPLACE FUNCTION {self.name}({ins}) RETURNS TABLE ({', '.join(f'{n} {k}' for n, k in outs)}) LANGUAGE plpgsql AS $procession$\n#variable_conflict use_column\n"
                "DECLARE\n    v_now int8 := greatest(ticks(), a_clock);\nBEGIN\n"
                f"    RETURN QUERY WITH calls({names}, place) AS (SELECT * FROM unnest({names}) WITH ORDINALITY), {self.ctes},\n"
                f"    answer(place, changed{columns}) AS ({self.select})\n"
                f"    SELECT -1::int4, 0::int8, NULL::text, as_number(q.changed), v_now{values}, q.place FROM answer AS q;\n"
                "END $procession$;\n")

    def call(self):
        return f"SELECT * FROM {self.name}({', '.join(f'${i}' for i in range(1, len(self.args) + 1))})"
