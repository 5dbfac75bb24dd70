"""The constant tables: catalogue_tables.c with catalogue_service_procs[], as src/catalogue/proc.h declares it."""
import zlib

from . import declare, pg_schema

SERVICE_ENUM = {"system": "SERVICE_SYSTEM", "word": "SERVICE_WORD", "translation": "SERVICE_TRANSLATION", "schedule": "SERVICE_SCHEDULE",
                "state": "SERVICE_STATE"}


def c_string(text, indent="\t\t"):
    """A C string literal, a line of source per line of text. Octal escapes, so that no digit that follows can join in."""
    if text is None:
        return "NULL"
    lines = []
    for part in text.split("\n"):
        out = ""
        for b in part.encode("utf-8"):
            ch = chr(b)
            out += "\\" + ch if ch in '"\\' else "\\t" if ch == "\t" else ch if 32 <= b < 127 else f"\\{b:03o}"
        lines.append(out.replace("??", "?\\?"))
    parts = [f'"{l}\\n"' for l in lines[:-1]]
    if lines[-1] or not parts:
        parts.append(f'"{lines[-1]}"')
    return ("\n" + indent).join(parts)


def flag(value):
    return "true" if value else "false"


class Writer:
    def __init__(self):
        self.out = []

    def line(self, text=""):
        self.out.append(text)

    def array(self, ctype, name, items):
        """A static array; returns its name, or NULL when it would be empty."""
        if not items:
            return "NULL"
        self.line(f"static const {ctype} {name}[] = {{")
        for item in items:
            self.line(f"\t{item},")
        self.line("};")
        return name


def emit_param(p):
    rng = p.range or (0, 0, 0, None, 0)
    low = "INT64_MIN" if rng[0] == -2**63 else f"INT64_C({rng[0]})"
    return (f'{{ "{p.name}", {p.type.c()}, {flag(p.output)}, {flag(p.has_default)}, {flag(p.has_default and p.default is None)}, '
            f'INT64_C({p.default or 0}), {"NULL_ERROR" if p.not_null else "NULL_OK"}, {low}, INT64_C({rng[1]}), {rng[2]}, {c_string(rng[3])}, {rng[4]}, {flag(p.any_length)} }}')


def emit_column(c):
    return f"{{ {c_string(c.name)}, {c.type.c()}, {flag(c.nullable)} }}"


def emit_binds(w, prefix, binds):
    return w.array("struct bind", prefix, [f"{{ {source}, {index} }}" for source, index in binds])


def object_id(kind, service, name):
    """Stable over versions, positive, and apart from the small numbers of databases and schemas."""
    return (zlib.crc32(f"{kind}/{service}/{name}".lower().encode()) & 0x3FFFFFFF) + 1000000


def emit_proc(w, service, proc):
    tag = f"{service.name}_{proc.name}"
    params = w.array("struct param", f"{tag}_params", [emit_param(p) for p in proc.params])
    local = w.array("struct param", f"{tag}_locals", [emit_param(p) for p in proc.locals])
    steps = []
    for i, s in enumerate(proc.steps):
        steps.append(emit_step(w, f"{tag}_{i}", s))
    steps_name = w.array("struct step", f"{tag}_steps", steps)
    fields = [
        f'.name = "{proc.name}"', f".section = {c_string(proc.section)}", f".summary = {c_string(proc.summary)}",
        f".source = {c_string(proc.source)}", f".service = {SERVICE_ENUM[service.name]}", f".needs = {declare.NEEDS[proc.needs]}",
        f".object_id = {object_id('P', service.name, proc.name) if proc in service.shown else 0}",
        f".read_only = {flag(proc.read_only)}", f".fails_with_status = {flag(proc.status_on_error)}", f".cleanup_later = {flag(proc.cleanup)}",
        f".flush_later = {flag(proc.flush_later)}", f".is_short = {flag(proc.short)}", f".one_item = {flag(proc.one_item)}",
        f".announces_work = {flag(proc.announces)}", f".waits_for_work = {flag(proc.waits)}",
        f".params = {params}, .nparams = {len(proc.params)}", f".locals = {local}, .nlocals = {len(proc.locals)}",
        f".steps = {steps_name}, .nsteps = {len(proc.steps)}", f".nresults = {len(proc.results)}",
    ]
    return "{\n\t\t" + ",\n\t\t".join(fields) + ",\n\t}"


def emit_step(w, tag, s):
    fields = [f".kind = STEP_{s.kind}"]
    if s.stmt:
        binds = emit_binds(w, f"{tag}_binds", s.stmt.binds)
        w.line(f"static const struct statement {tag}_stmt = {{")
        w.line(f"\t.sql = {c_string(s.stmt.sql)},")
        w.line(f"\t.binds = {binds}, .nbinds = {len(s.stmt.binds)}, .id = {s.stmt.id}, .writes = {flag(s.stmt.writes)},")
        w.line("};")
        fields.append(f".stmt = &{tag}_stmt")
    if s.columns:
        fields.append(f".columns = {w.array('struct column', f'{tag}_columns', [emit_column(c) for c in s.columns])}")
        fields.append(f".ncolumns = {len(s.columns)}")
    if s.targets:
        fields.append(f".targets = {w.array('uint16_t', f'{tag}_targets', [str(t) for t in s.targets])}")
        fields.append(f".ntargets = {len(s.targets)}")
    if s.kind == "IF":
        fields.append(f".jump = {s.jump}")
    if s.kind in ("CHECK", "MESSAGE"):
        fields.append(f".number = {s.number}, .severity = {s.severity}, .text = {c_string(s.text)}")
    if s.kind == "RETURN":
        fields.append(f".number = {s.number}")
    if s.test:
        fields.append(f".test = {s.test}, .args = {emit_binds(w, f'{tag}_args', s.args)}, .nargs = {len(s.args)}")
    if s.table:
        fields.append(f'.table = "{s.table}", .column = "{s.column}"')
        fields.append(f".args = {emit_binds(w, f'{tag}_args', s.args)}, .nargs = 1")
    if s.native:
        fields.append(f'.native = "{s.native}"')
        fields.append(f".args = {emit_binds(w, f'{tag}_args', s.args)}, .nargs = {len(s.args)}")
    return "{ " + ", ".join(fields) + " }"


def view_names(view):
    return [(view.schema, view.name)] + view.also


def emit_view(v, schema, name, columns, oid):
    fields = [f'.schema = "{schema}", .name = "{name}", .columns = {columns}, .ncolumns = {len(v.columns)}, .object_id = {oid}']
    fields.append(f".definition = {c_string(v.sql)}")
    if v.inline:
        fields.append(f".inline_sql = {c_string(v.sql)}, .postgres_sql = {c_string(pg_schema.inline(v))}")
    else:
        fields.append(f'.store_name = "{v.store_name}"')
    if v.over is not None:
        fields.append(f'.rows = "{v.over}"')
    fields += [f".{n} = true" for n in ("per_database", "per_login", "function") if getattr(v, n)]
    return "{ " + ", ".join(fields) + " }"


def emit_views(w, service):
    rows = []
    for v in service.views:
        columns = w.array("struct column", f"{service.name}_{v.store_name}_columns", [emit_column(c) for c in v.columns])
        for schema, name in view_names(v):
            rows.append((schema.lower(), name.lower(), emit_view(v, schema, name, columns, object_id("V", service.name, f"{schema}.{name}"))))
    return w.array("struct view", f"{service.name}_views", [r[2] for r in sorted(rows)]), len(rows)


def readable(column):
    """How the view for people shows a column: times as ISO text, GUIDs as text, all else as it is."""
    n = f'"{column.name}"'
    if column.type.name in ("datetime", "smalldatetime"):
        # ticks of 1/300 s since 1900-01-01: 2415020.5 is that day's Julian number
        return (f"CASE WHEN {n} IS NOT NULL THEN strftime('%Y-%m-%d %H:%M:%S', {n} / 300 - 2208988800, 'unixepoch') || "
                f"printf('.%03d', ({n} % 300 * 10 + 1) / 3) END")
    if column.type.name == "uniqueidentifier":
        order = (7, 5, 3, 1, None, 11, 9, None, 15, 13, None, 17, 19, None, 21, 23, 25, 27, 29, 31)
        parts = " || ".join("'-'" if i is None else f"substr(hex({n}), {i}, 2)" for i in order)
        return f"CASE WHEN {n} IS NOT NULL THEN {parts} END"
    return n


def views_sql(service):
    """Drops and creates the views: the one that SELECT reads, and for dbo one for people who open the file."""
    out = []
    for v in service.views:
        if v.inline:
            continue
        names = [f'"{c.name}"' for c in v.columns] + v.hidden
        out.append(f'DROP VIEW IF EXISTS "{v.store_name}";')
        out.append(f'CREATE VIEW "{v.store_name}"({", ".join(names)}) AS {v.sql};')
        if v.schema == "dbo" and service.name != "system":
            shown = ", ".join(f'{readable(c)} AS "{c.name}"' for c in v.columns)
            out.append(f'DROP VIEW IF EXISTS "{v.name}";')
            out.append(f'CREATE VIEW "{v.name}" AS SELECT {shown} FROM "{v.store_name}";')
    return "\n".join(out) + ("\n" if out else "")


def numbers_kept_sql(service):
    """Triggers of the writing connection alone, which call a function that adds to the numbers: nothing of them is in the file."""
    return "".join(f"CREATE TEMP TRIGGER number_{i} {event} BEGIN SELECT tally({', '.join(f'{n}, {sql}' for n, sql in added)}); END;\n"
                   for i, (event, added) in enumerate(service.numbers_triggers))


def emit_numbers(w, service):
    numbers = w.array("struct service_number", f"{service.name}_numbers",
                      [f'{{ "{n.family}", {c_string(n.state)} }}' for n in service.numbers])
    return (f"\t\t.numbers = {numbers}, .nnumbers = {len(service.numbers)},\n\t\t.numbers_sql = {c_string(service.numbers_sql)},\n"
            f"\t\t.numbers_kept_sql = {c_string(numbers_kept_sql(service)) if service.numbers else 'NULL'},\n")


def tables(services):
    w = Writer()
    w.line("/* Generated by tools/procgen.py from procedures/. Do not edit: change the declarations. */")
    w.line("#pragma GCC diagnostic ignored \"-Woverlength-strings\"")
    w.line('#include "catalogue/proc.h"')
    w.line('#include "catalogue/query.h"')
    w.line()
    entries = []
    for s in services:
        procs = w.array("struct proc", f"{s.name}_procs", [emit_proc(w, s, p) for p in s.procs])
        # In parentheses: clang takes two literals without a comma between them for a mistake.
        migrations = w.array("char *const", f"{s.name}_migrations", [f"({c_string(m)})" for m in s.migrations])
        views, nviews = emit_views(w, s)
        numbers = emit_numbers(w, s)
        texts = w.array("struct constraint_text", f"{s.name}_constraints",
                        [f"{{ {n}, {c_string(k)}, {c_string(t)} }}" for n, k, t in s.constraints])
        entries.append(
            f'[{SERVICE_ENUM[s.name]}] = {{\n\t\t.name = "{s.name}",\n\t\t.procs = {procs}, .nprocs = {len(s.procs)},\n'
            f"\t\t.nstatements = {getattr(s, 'nstatements', 0)},\n\t\t.migrations = {migrations}, .nmigrations = {len(s.migrations)},\n"
            f"\t\t.views = {views}, .nviews = {nviews},\n\t\t.views_sql = {c_string(views_sql(s))},\n"
            f"{numbers}\t\t.constraints = {texts}, .nconstraints = {len(s.constraints)},\n\t}}")
    w.line("const struct service_procs catalogue_service_procs[SERVICE_COUNT] = {")
    for e in entries:
        w.line(f"\t{e},")
    w.line("};")
    return "\n".join(w.out) + "\n"
