"""What the language does not have is refused by name, with advice that can be followed: what it names exists."""
import re
import subprocess

import pytest

from support import wiretypes as t
from support.server import command_binary
from support.wire import Param, Wire

REFUSED = {
    "CREATE LOGIN x WITH PASSWORD = 'y'": ("CREATE LOGIN", "procession_login_add"),
    "ALTER LOGIN x WITH PASSWORD = 'y'": ("ALTER LOGIN", "procession_login_passwd"),
    "DROP LOGIN x": ("DROP LOGIN", "procession_login_disable"),
    "CREATE USER x FOR LOGIN x": ("CREATE USER", "procession_grant"),
    "DROP USER x": ("DROP USER", "procession_grant"),
    "CREATE DATABASE x": ("CREATE DATABASE", "procession_database_create"),
    "CREATE TABLE x (a int)": ("CREATE", "stored procedures"),
    "DROP VIEW x": ("DROP", "stored procedures"),
    "GRANT EXECUTE TO x": ("GRANT", "procession_grant"),
    "REVOKE EXECUTE FROM x": ("REVOKE", "procession_grant"),
    "DENY EXECUTE TO x": ("DENY", "procession_grant"),
    "DBCC CHECKDB": ("DBCC", "procession_database_check"),
    "KILL 51 WITH STATUSONLY": ("KILL … WITH STATUSONLY", "sp_who"),
    "KILL 'a-b'": ("KILL of anything but a session", "sp_who"),
    "BACKUP DATABASE x TO DISK = 'y'": ("BACKUP", "sqlite3"),
    "RESTORE DATABASE x FROM DISK = 'y'": ("RESTORE", "stopped"),
    "INSERT INTO dbo.Items VALUES (1)": ("INSERT", "stored procedures"),
    "SELECT Id FROM dbo.Items EXCEPT SELECT Id FROM dbo.Items": ("EXCEPT", "EXISTS"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused_with_advice(db, text):
    what, advice = REFUSED[text]
    result = db.batch("SELECT 1\n" + text)
    assert result.error == 50008 and result.sets == [], "nothing of the batch has run"
    message = result.errors[0][2]
    assert message.startswith(what + " ") and advice in message
    for procedure in re.findall(r"procession_\w+|sp_\w+", message):
        assert db.batch(f"SELECT OBJECT_ID('master..{procedure}')").rows != [(None,)], procedure
    commands = re.findall(r"^  (\w+)", subprocess.run([command_binary(), "help"], capture_output=True, text=True, timeout=30, check=True).stdout, re.M)
    for command in re.findall(r"procession (\w+)", message.replace("by Procession", "")):
        assert command in commands


def test_another_order_of_dates_is_refused_not_forgotten(db):
    """Dates are read as month, day, year; who wants another order must not get wrong dates."""
    for order in ("dmy", "ymd", "ydm", "myd", "dym"):
        result = db.batch(f"SET DATEFORMAT {order}")
        assert result.error == 50008 and "yyyymmdd" in result.errors[0][2]
    assert db.batch("SET DATEFORMAT abc").error == 2742
    assert db.batch("SET DATEFORMAT MDY SELECT DATEPART(month, CAST('12/31/2020' AS datetime))").rows == [(12,)]


@pytest.mark.parametrize("proc, values", (
    ("procession_database_create", {"name": "Nul\0Name", "service": "state"}), ("procession_database_create", {"name": "Nul\0../../x", "service": "state"}),
    ("procession_login_add", {"name": "nul\0'name", "password": "long enough 1"}), ("procession_login_add", {"name": "REALM\\nul\0\\x", "windows": 1})))
def test_names_with_nul(server, proc, values):
    """SQL's own functions see only what stands before U+0000, and a file's name ends there."""
    with Wire(server).login(database="master") as w:
        answer = w.rpc(proc, [Param(t.int_(v) if isinstance(v, int) else t.nvarchar(v), "@" + k) for k, v in values.items()])
        assert answer.numbers == [50020]
        assert "\\x00" not in repr(w.batch("EXEC procession_database_list").rows + w.batch("EXEC procession_login_list").rows)
