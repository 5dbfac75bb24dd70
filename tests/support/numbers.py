"""The numbers of a server as procession_stats tells them, by (name, database or None, label or None)."""


def numbers(rows):
    """rows: of EXEC procession_stats. Those of procedures are left out."""
    return {(name, database, label): value for name, database, procedure, label, value in rows if procedure is None}


def counters(admin):
    """By their name without procession_, summed over states: admin is a support.wire.Wire."""
    found = {}
    for (name, database, _), value in numbers(tuple(row) for row in admin.batch("EXEC procession_stats").ok().rows).items():
        if database is None:
            found[name.removeprefix("procession_")] = found.get(name.removeprefix("procession_"), 0) + value
    return found
