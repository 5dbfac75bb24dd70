"""Reads statements.sql: what tools send, and what must come back."""
import ast
import pathlib

FILE = pathlib.Path(__file__).with_name("statements.sql")


class Statement:
    def __init__(self, head):
        self.tool, self.what, self.database, self.rows, columns = (part.strip() for part in head.split("|"))
        names = [name.strip() for name in columns.split(",")]
        self.open = names[-1] == "…"                    # others may follow
        self.columns = [n.lower() for n in (names[:-1] if self.open else names)]
        self.values, self.refused, self.text = (), None, ""
        assert self.rows in ("some", "none", "any"), head

    def __str__(self):
        return f"{self.tool}: {self.what}"

    def fits(self, names):
        """Are these the columns that were expected? A name that the tool did not give is empty."""
        names = [n.lower() for n in names]
        return names[:len(self.columns)] == self.columns if self.open else names == self.columns


def read():
    out = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("--- "):
            out.append(Statement(line[4:]))
        elif line.startswith("--? "):
            out[-1].values = ast.literal_eval(f"({line[4:]},)")
        elif line.startswith("--! "):
            out[-1].refused = line[4:]
        elif out and line.strip() and not line.startswith("--:"):
            out[-1].text += line + "\n"
    assert all(s.text for s in out) and len({str(s) for s in out}) == len(out)
    return out


def result_sets(cursor, statement):
    """[(names, rows)] of all result sets."""
    if statement.values:
        cursor.execute(statement.text, statement.values)
    else:
        cursor.execute(statement.text)
    out = []
    while True:
        if cursor.description is not None:
            out.append(([column[0] for column in cursor.description], cursor.fetchall()))
        if not cursor.nextset():
            return out


def fault(statement, sets):
    """Why the answer is not what the tool needs, or None."""
    if statement.rows == "none" and statement.columns == [""] and not statement.open and not sets:
        return None                                     # a statement without a result set
    fitting = [rows for names, rows in sets if statement.fits(names)]
    if not fitting:
        return f"columns {[names for names, _ in sets]}"
    if statement.rows == "some" and not any(fitting):
        return "no rows"
    if statement.rows == "none" and any(fitting):
        return f"rows {fitting[0][:2]}"
    return None


def summary(statements):
    """The share that is answered, for docs/drivers.md."""
    refused = [s for s in statements if s.refused]
    return len(statements) - len(refused), len(statements), refused


if __name__ == "__main__":
    done, all_, refused = summary(read())
    print(f"{done} of {all_}")
    for s in refused:
        print(f"{s}: {s.refused}")
