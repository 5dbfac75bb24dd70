"""What a text of its own changes ends with it: SET options, USE; and where it runs (docs/wire.md)."""
import pytest

from support import wire as tds
from support import wiretypes as t
from support.logins import PASSWORD, new_login
from support.wire import Param, Wire

OPTIONS = {
    "SET FMTONLY ON": "SELECT COUNT(*) FROM sys.databases",
    "SET ROWCOUNT 1": "SELECT COUNT(*) FROM (SELECT name FROM sys.databases) t",
    "SET NOCOUNT ON": "SELECT @@OPTIONS & 512",
    "SET XACT_ABORT ON": "SELECT @@OPTIONS & 16384",
    "SET IMPLICIT_TRANSACTIONS ON": "SELECT @@OPTIONS & 2",
    "SET LOCK_TIMEOUT 77": "SELECT @@LOCK_TIMEOUT",
    "SET DATEFIRST 3": "SELECT @@DATEFIRST",
    "SET TEXTSIZE 99": "SELECT @@TEXTSIZE",
    "SET QUOTED_IDENTIFIER OFF": "SELECT @@OPTIONS & 256",
    "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE": "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID",
    "USE master": "SELECT DB_NAME()",
}


def in_exec(w, text):
    return w.batch("EXEC ('" + text.replace("'", "''") + "')")


def in_executesql(w, text):
    return w.executesql(text)


def in_exec_executesql(w, text):
    return w.batch("EXEC sp_executesql N'" + text.replace("'", "''") + "'")


def in_prepexec(w, text):
    return w.rpc(13, [Param(t.int_(None), output=True), Param(t.nvarchar(None)), Param(t.nvarchar(text))])


def in_nested(w, text):
    return in_exec(w, "EXEC ('" + text.replace("'", "''") + "')")


WAYS = {f.__name__: f for f in (in_exec, in_executesql, in_exec_executesql, in_prepexec, in_nested)}


@pytest.fixture
def w(server, witness):
    with Wire(server).login() as made:
        yield made


@pytest.mark.parametrize("way", WAYS)
def test_options_end_with_their_text(w, way):
    for option, shown in OPTIONS.items():
        before = w.batch(shown).ok().value
        WAYS[way](w, option + "; SELECT 1").ok()
        answer = w.batch(shown).ok()
        assert answer.rows == [[before]], option


@pytest.mark.parametrize("way", WAYS)
def test_what_a_language_changes_ends_with_its_text(w, way):
    """There is one language, with its first day of the week."""
    w.batch("SET DATEFIRST 3").ok()
    WAYS[way](w, "SET LANGUAGE us_english; IF @@DATEFIRST <> 7 SELECT 1 / 0").ok()
    assert w.batch("SELECT @@DATEFIRST, @@LANGUAGE").ok().rows == [[3, "us_english"]]


def test_an_option_holds_inside(w):
    assert in_exec(w, "SET ROWCOUNT 1; SELECT name FROM sys.databases").ok().rows != []
    assert len(in_exec(w, "SET ROWCOUNT 1; SELECT name FROM sys.databases").rows) == 1
    assert in_executesql(w, "USE master; SELECT DB_NAME()").ok().value == "master"
    assert w.batch("SET ROWCOUNT 2; EXEC ('SELECT name FROM sys.databases'); SET ROWCOUNT 0").ok().rows.__len__() == 2, "a text inherits"


def test_they_end_after_an_error_and_an_attention(server):
    with Wire(server).login() as w:
        assert in_executesql(w, "USE master; SET FMTONLY ON; SET ROWCOUNT 1; SET FMTONLY OFF; SELECT 1/0").numbers == [8134]
        assert w.batch("SELECT DB_NAME()").value == "StateService"
        assert len(w.batch("SELECT name FROM sys.databases").ok().rows) > 1
        w.send_message(tds.RPC, tds.rpc_body([(10, [Param(t.nvarchar("USE master; SET ROWCOUNT 1; WAITFOR DELAY '00:00:30'"))])], w.version, 0))
        w.attention()
        answer = w.answer(tds.RPC)
        if answer.last.status & tds.ATTN == 0:
            w.acknowledgement()
        assert w.batch("SELECT DB_NAME()").value == "StateService"
        assert len(w.batch("SELECT name FROM sys.databases").ok().rows) > 1


def test_context_info_and_transactions_stay(server):
    with Wire(server).login() as w:
        in_exec(w, "SET CONTEXT_INFO 0x0102").ok()
        assert w.batch("SELECT SUBSTRING(CONTEXT_INFO(), 1, 2)").value == b"\x01\x02"
        in_exec(w, "BEGIN TRAN")
        assert w.batch("SELECT @@TRANCOUNT").value == 1
        w.batch("ROLLBACK").ok()


def databases_told(answer):
    return [token.new for token in answer.all("envchange") if token.type == 1]


def test_the_client_is_told_where_it_stands(w):
    assert databases_told(in_executesql(w, "USE master")) == ["master", "StateService"]
    assert databases_told(in_nested(w, "USE master")) == ["master", "StateService"]
    assert databases_told(w.batch("USE master; EXEC ('USE StateService'); SELECT DB_NAME()")) == ["master", "StateService", "master"]
    assert w.batch("SELECT DB_NAME()").value == "master", "a USE of the batch itself stays"
    assert databases_told(w.batch("USE StateService")) == ["StateService"]
    assert databases_told(in_executesql(w, "SELECT 1")) == []
    last = in_executesql(w, "USE master")
    assert last.last.kind == "doneproc" and last.last.status & tds.MORE == 0, "told before the end"


def test_a_text_in_another_database(server, w):
    assert w.batch("EXEC master..sp_executesql N'SELECT DB_NAME()'").ok().value == "master"
    answer = w.rpc("WordAutomation..sp_executesql", [Param(t.nvarchar("SELECT DB_NAME(), COUNT(*) FROM dbo.Jobs"))]).ok()
    assert answer.rows[0][0] == "WordAutomation" and databases_told(answer) == []
    assert databases_told(w.batch("EXEC WordAutomation..sp_executesql N'EXEC (''USE master'')'")) == ["master", "WordAutomation", "StateService"]
    assert w.batch("SELECT DB_NAME()").value == "StateService"
    assert w.batch("EXEC NoSuch..sp_executesql N'SELECT 1'").numbers == [2812]
    with Wire(server).login(new_login(server, "StateService"), PASSWORD) as clerk:
        assert clerk.batch("EXEC WordAutomation..sp_executesql N'SELECT 1'").numbers == [916]
