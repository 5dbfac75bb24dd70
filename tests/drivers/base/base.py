"""LibreOffice Base through UNO, in a headless soffice of its own: a data source over sdbc:odbc or sdbc:jdbc, its tables, row sets, scrolling results.
Arguments: the folder for its profile, the URL of the data source, jdbc's class and jar where that is.

Over ODBC without its trees and without scrolling: FreeTDS has one statement at a time, so LibreOffice opens more connections for its trees, and
closing these crashes soffice now and then (free() in FreeTDS' SQLDisconnect); to scroll it goes row by row to the end, where unixODBC refuses the
next step (24000)."""
import json
import os
import signal
import subprocess
import sys
import threading
import time

import uno
from com.sun.star.beans import PropertyValue

folder, url, java = sys.argv[1], sys.argv[2], sys.argv[3:]
counter = 0


def key(name):
    global counter
    counter += 1
    return f"{name}-{os.environ['PT_PREFIX']}-{url[5:9]}-{counter}"


def expect(ok, note):
    if not ok:
        raise AssertionError(note)


def office():
    """The component context of a new soffice, and its process."""
    pipe = f"procession-{os.getpid()}"
    process = subprocess.Popen(["soffice", "--headless", "--norestore", "--nologo", f"-env:UserInstallation=file://{folder}/profile",
                                f"--accept=pipe,name={pipe};urp;"], stdout=subprocess.DEVNULL, start_new_session=True)
    watch = threading.Timer(150, os.killpg, (process.pid, signal.SIGKILL))      # nothing is left of it when a driver hangs
    watch.daemon = True
    watch.start()
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    while True:
        try:
            return resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext"), process
        except Exception:
            expect(process.poll() is None, f"soffice ended with {process.returncode}")
            time.sleep(0.2)


def data_source(context):
    source = context.ServiceManager.createInstanceWithContext("com.sun.star.sdb.DatabaseContext", context).createInstance()
    source.URL, source.User, source.Password = url, os.environ["PT_USER"], os.environ["PT_PASSWORD"]
    source.IsPasswordRequired = True
    if java:
        source.Info = (PropertyValue("JavaDriverClass", 0, java[0], 0), PropertyValue("JavaDriverClassPath", 0, "file://" + java[1], 0))
    return source


def run(db, text):
    """FreeTDS has one statement at a time: beside one that is open LibreOffice opens another connection, which is outside the transaction."""
    statement = db.createStatement()
    statement.execute(text)
    statement.close()


def add(db, id):
    run(db, f"EXEC proc_AddItem @id = '{id}', @item = 0x616263, @timeout = 20")


def some(db, n):
    prefix = key("page")
    for i in range(10, 10 + n):
        add(db, f"{prefix}-{i}")
    return prefix


def ids(rows):
    seen = []
    while rows.next():
        seen.append(rows.getString(1)[-2:])
    return ",".join(seen)


def count(db, id):
    rows = db.createStatement().executeQuery(f"SELECT count(*) FROM Items WHERE Id = '{id}'")
    rows.next()
    found = rows.getInt(1)
    expect(not rows.next(), "one row")                  # read to its end: what is left unread must be cancelled first
    rows.Statement.close()
    return found


def connect(context, db):
    rows = db.createStatement().executeQuery("SELECT DB_NAME()")
    expect(rows.next() and rows.getString(1) == "StateService", "db_name")
    expect(db.MetaData.getDatabaseProductName() == "Microsoft SQL Server", db.MetaData.getDatabaseProductName())


def pages(context, db):
    where = f"FROM Items WHERE Id LIKE '{some(db, 12)}%'"
    ask = db.createStatement().executeQuery
    expect(ids(ask(f"SELECT Id {where} ORDER BY Id OFFSET 4 ROWS FETCH NEXT 3 ROWS ONLY")) == "14,15,16", "offset")
    expect(ids(ask(f"SELECT Id FROM (SELECT Id, ROW_NUMBER() OVER (ORDER BY Id) AS n {where}) x WHERE n BETWEEN 3 AND 4")) == "12,13", "row_number")


def scrolls(context, db):
    statement = db.createStatement()
    statement.ResultSetType = 1004                      # SCROLL_INSENSITIVE
    rows = statement.executeQuery(f"SELECT Id FROM Items WHERE Id LIKE '{some(db, 5)}%' ORDER BY Id")
    at = lambda number: rows.getString(1).endswith(str(number))      # noqa: E731
    for move, arguments, where in (("last", (), 14), ("first", (), 10), ("absolute", (4,), 13), ("previous", (), 12), ("relative", (-1,), 11), ("next", (), 12)):
        expect(getattr(rows, move)(*arguments) and at(where), f"{move}: {rows.getString(1)}")


def prepared(context, db):
    prefix = some(db, 3)
    statement = db.prepareStatement("SELECT Id, Bytes FROM Items WHERE Id = ? AND Bytes > ?")
    for i in range(10, 14):
        statement.setString(1, f"{prefix}-{i}")
        statement.setInt(2, 2)
        expect(statement.executeQuery().next() == (i < 13), f"row {i}")


def row_set(context, db):
    """What a form and a table window use: it moves freely and counts its rows."""
    rows = context.ServiceManager.createInstanceWithContext("com.sun.star.sdb.RowSet", context)
    rows.ActiveConnection, rows.CommandType, rows.Command = db, 2, f"SELECT Id, Bytes FROM Items WHERE Id LIKE '{some(db, 7)}%' ORDER BY Id"
    rows.EscapeProcessing = False
    rows.execute()
    expect(rows.last() and rows.getRow() == 7 and rows.getString(1).endswith("16") and rows.first() and rows.getLong(2) == 3, "row set")


def transactions(context, db):
    a, b = key("a"), key("b")
    db.setAutoCommit(False)
    add(db, a)
    expect(count(db, a) == 1, "not seen inside")
    db.rollback()
    expect(count(db, a) == 0, "seen after rollback")
    add(db, b)
    db.commit()
    db.setAutoCommit(True)
    expect(count(db, b) == 1, "not seen after commit")


def isolation(context, db):
    for level, number in ((1, 1), (2, 2), (4, 3), (8, 4)):
        db.setTransactionIsolation(level)
        rows = db.createStatement().executeQuery("SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID")
        expect(rows.next() and rows.getInt(1) == number, f"level {level}")
        rows.Statement.close()                          # FreeTDS changes no level beside rows that are open


def metadata(context, db):
    tables = db.getTables()
    names = [n for n in tables.ElementNames if n.endswith("dbo.Items") or n == "Items"]
    expect(names, f"tables: {tables.ElementNames[:5]}")
    columns = tables.getByName(names[0]).getColumns()
    expect(columns.ElementNames == ("Id", "Locked", "LockCookie", "LockTime", "TimeoutMinutes", "Expires", "Bytes"), str(columns.ElementNames))
    expect(columns.getByName("Id").Precision == 512, "length")
    procedures = db.MetaData.getProcedures(None, "%", "proc_AddItem%")
    expect(procedures.next() and procedures.getString(3).startswith("proc_AddItem"), "procedures")


def main():
    context, process = office()
    try:
        source = data_source(context)
        for part in (connect, pages, prepared, row_set, transactions, isolation, *([scrolls, metadata] if java else [])):
            ok, note = True, ""
            try:
                db = source.getIsolatedConnection(source.User, source.Password)
                try:
                    part(context, db)
                finally:
                    db.close()
            except Exception as e:
                ok, note = False, f"{type(e).__name__} {e}"
            print(json.dumps({"feature": part.__name__, "ok": ok, "note": note}), flush=True)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


main()
