"""Files that are not what they were: empty, missing, swapped, broken. The server never takes them for new ones; it serves what is sound, says what is not, and what to do."""
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

from support.server import Server, ServerFailed, command_binary
from support.wire import ServerError, Wire

STATE = "StateService"
OTHERS = ("WordAutomation", "Translation", "ScheduledJobs")


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """A data folder that has been used: logins, an item in StateService; stopped in order."""
    folder = tmp_path_factory.mktemp("used") / "data"
    with Server(data=folder, settings={"sweep_interval": 0}) as server:
        with Wire(server).login(database=STATE) as w:
            w.batch("EXEC proc_AddItem 'kept', 0x01, 20").ok()
        with Wire(server).login(database="master") as w:
            w.batch("EXEC procession_login_add 'shop', 'shop-Password1'; EXEC procession_grant 'shop', 'StateService', 'execute,select'").ok()
    return folder


@pytest.fixture
def server(used):
    made = Server(settings={"sweep_interval": 0})
    shutil.copytree(used, made.data)
    yield made
    made.stop()
    made.remove()


def refused(server):
    """The server does not start; what it said."""
    with pytest.raises(ServerFailed) as e:
        server.start()
    server.process = None
    assert "ended with status 1" in str(e.value)
    return server.log()


def states(server):
    with Wire(server).login(database="master") as w:
        rows = w.batch("EXEC procession_database_list").ok().rows
    return {row[1]: (row[8], row[9]) for row in rows}


def login_errors(server, database, **who):
    wire = Wire(server)
    with pytest.raises(ServerError):
        wire.login(database=database, **who)
    return wire.login_answer.numbers


def items(server, database=STATE):
    with Wire(server).login(database=database) as w:
        return [row[0] for row in w.batch("SELECT Id FROM dbo.Items ORDER BY Id").ok().rows]


def check_damaged(server, words, database=STATE):
    """The database is not served, everywhere in the same words; the others are."""
    state, reason = states(server)[database]
    assert state == "damaged" and words in reason, (state, reason)
    assert "database_damaged" in server.log() and words in server.log()
    for name in OTHERS:
        if name != database:
            Wire(server).login(database=name).close()
    assert login_errors(server, database) == [945, 4060, 18456]
    with Wire(server).login(database="master") as w:
        assert w.batch(f"EXEC {database}..proc_DeleteExpiredItems").numbers == [945]
        assert w.batch(f"USE {database}").numbers == [945]
        assert w.batch(f"SELECT state_desc FROM sys.databases WHERE name = '{database}'").value == "SUSPECT"
        assert w.batch(f"SELECT CAST(DATABASEPROPERTYEX('{database}', 'Status') AS nvarchar(60))").value == "SUSPECT"
        assert w.batch(f"SELECT HAS_DBACCESS('{database}')").value == 0
        assert words in w.batch(f"EXEC procession_database_check '{database}'").ok().rows[0][1]
        assert w.batch(f"EXEC procession_database_create '{database}', 'state'").numbers == [50020]
        w.batch(f"EXEC procession_database_set '{database}', 'relaxed'").ok()
        w.batch(f"EXEC procession_database_set '{database}', 'durable'").ok()
        w.batch("EXEC sp_who").ok()


def cut_to_nothing(path):
    os.truncate(path, 0)


@pytest.mark.parametrize("harm, words", ((cut_to_nothing, "is empty"), (os.unlink, "is missing")), ids=("empty", "missing"))
def test_a_database_that_lost_its_file_is_not_begun_anew(server, harm, words):
    harm(server.data / "StateService.db")
    server.start()
    check_damaged(server, words)
    assert login_errors(server, STATE, user="shop", password="shop-Password1") == [945, 4060, 18456]
    server.restart()
    check_damaged(server, words)


def test_the_log_beside_an_empty_file_is_left_alone(server):
    """SQLite deletes the WAL of an empty file: everything may still be in it."""
    server.start()
    with Wire(server).login(database=STATE) as w:
        w.batch("EXEC proc_AddItem 'in the WAL', 0x01, 20").ok()
    server.kill()
    whole = (server.data / "StateService.db").read_bytes()
    cut_to_nothing(server.data / "StateService.db")
    server.start()
    check_damaged(server, "is empty")
    server.stop()
    (server.data / "StateService.db").write_bytes(whole)
    server.start()
    assert items(server) == ["in the WAL", "kept"]


def test_a_file_whose_content_is_gone_is_told(server):
    """A valid file of SQLite without a table in it: as it is left when the WAL of a young database is deleted."""
    (server.data / "StateService.db").unlink()
    with contextlib.closing(sqlite3.connect(server.data / "StateService.db")) as db:
        db.execute("PRAGMA journal_mode=WAL")
    server.start()
    check_damaged(server, "has nothing in it")


def test_a_broken_file_keeps_nobody_else_out(server):
    with open(server.data / "StateService.db", "r+b") as file:
        file.write(b"no database any more".ljust(4096, b"\0"))
    server.start()
    check_damaged(server, "file is not a database")


def test_all_damaged_and_the_server_still_tells(server):
    for name in (STATE, *OTHERS):
        cut_to_nothing(server.data / f"{name}.db")
    server.start()
    assert [state for state, _ in states(server).values()] == ["online"] + ["damaged"] * 4


def test_the_command_says_which_database_is_damaged(server):
    cut_to_nothing(server.data / "Translation.db")
    server.start()
    command = [str(command_binary()), "--server", server.address, "--password-file", str(server.dir / "password")]
    result = subprocess.run([*command, "--json", "status"], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1
    rows = {row["name"]: row for row in json.loads(result.stdout)["databases"]}
    assert rows["Translation"]["state"] == "damaged" and "--set-aside" in rows["Translation"]["reason"]
    assert rows[STATE]["state"] == "online" and rows[STATE]["reason"] is None
    assert subprocess.run([*command, "database", "check", "Translation"], capture_output=True, timeout=60, check=False).returncode == 1
    assert subprocess.run([*command, "database", "check", STATE], capture_output=True, timeout=60, check=False).returncode == 0


def test_damage_that_is_met_while_it_runs_is_told(server):
    server.start()
    with Wire(server).login(database=STATE) as w:
        for i in range(40):
            w.batch(f"EXEC proc_AddItem 'item-{i:03}', 0x{'ab' * 3000}, 20").ok()
    server.restart()
    path = server.data / "StateService.db"
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    with Wire(server).login(database=STATE) as w:
        assert 50010 in w.batch("SELECT count(*) FROM dbo.Items").numbers
    state, reason = states(server)[STATE]
    assert state == "damaged" and "while it was in use" in reason
    server.kill()


# --- setting aside


def test_a_damaged_file_is_set_aside_when_told_to(server):
    with open(server.data / "StateService.db", "r+b") as file:
        file.write(b"\0" * 4096)
    broken = (server.data / "StateService.db").read_bytes()
    server.settings["set_aside"] = " Translation, stateservice "
    server.start()
    assert items(server) == []
    assert all(state == "online" for state, _ in states(server).values())
    kept = list(server.data.glob("StateService.db.damaged-*Z"))
    assert [path.read_bytes() for path in kept] == [broken]
    assert not list(server.data.glob("Translation.db.damaged-*")), "it was sound"
    with Wire(server).login(database=STATE) as w:
        w.batch("EXEC proc_AddItem 'new', 0x01, 20").ok()
    server.restart()
    assert items(server) == ["new"], "only what is damaged is set aside"
    del server.settings["set_aside"]
    server.restart()
    assert items(server) == ["new"]


# --- the system store


@pytest.mark.parametrize("harm", (cut_to_nothing, os.unlink), ids=("empty", "missing"))
def test_without_its_system_store_the_server_does_not_start(server, harm):
    harm(server.data / "system.db")
    log = refused(server)
    assert "system.db" in log and '--set-aside "master"' in log
    refused(server)
    server.settings["set_aside"] = "master"
    server.start()
    assert items(server) == ["kept"]
    assert login_errors(server, STATE, user="shop", password="shop-Password1") == [18456]
    assert all(state == "online" for state, _ in states(server).values())


def test_a_broken_system_store_is_refused(server):
    with open(server.data / "system.db", "r+b") as file:
        file.write(b"\0" * 4096)
    assert "system.db" in refused(server)


def test_a_first_start_that_was_cut_short_begins_again():
    with Server() as server:
        server.kill()
        for path in server.data.glob("*.db*"):
            path.unlink()
        (server.data / "system.db").touch()         # made, and then the power went
        server.start()
        assert items(server) == []


def without_databases(server):
    server.kill()
    for path in server.data.glob("*.db*"):
        path.unlink()


def begin_a_database(folder):
    """What is there while the first commit of a new database is written: one page, and a WAL that ends before the commit."""
    with contextlib.closing(sqlite3.connect(folder / "making.db", isolation_level=None)) as db:
        db.executescript("PRAGMA journal_mode=WAL; PRAGMA cache_size=1; BEGIN; CREATE TABLE t (x)")
        db.executemany("INSERT INTO t VALUES (zeroblob(5000))", [()] * 20)
        for tail in ("", "-wal"):
            shutil.copy(folder / f"making.db{tail}", folder / f"system.db{tail}")
    for path in folder.glob("making.db*"):
        path.unlink()
    assert (folder / "system.db").stat().st_size == 4096 and (folder / "system.db-wal").stat().st_size > 4096


def test_a_first_start_that_was_cut_short_within_its_first_commit_begins_again():
    with Server() as server:
        without_databases(server)
        begin_a_database(server.data)
        server.start()
        assert items(server) == []


@pytest.mark.parametrize("harm", (cut_to_nothing, os.unlink), ids=("empty", "missing"))
def test_a_wal_alone_belongs_to_a_system_store_that_was_lost(harm):
    with Server() as server:
        without_databases(server)
        begin_a_database(server.data)
        harm(server.data / "system.db")
        assert '--set-aside "master"' in refused(server)
        without_databases(server)
        server.start()


# --- identities


def test_the_file_of_another_server_is_told(server):
    with Server() as other:
        other.stop()
        shutil.copy(other.data / "StateService.db", server.data)
    server.start()
    check_damaged(server, "belongs to another database")
    server.stop()
    server.settings["accept_as_found"] = STATE
    server.start()
    assert items(server) == []
    del server.settings["accept_as_found"]
    server.restart()                                # from now on it is the one that is known
    assert items(server) == []
    assert states(server)[STATE] == ("online", None)


def test_the_file_of_another_database_is_told(server):
    server.start()
    with Wire(server).login(database="master") as w:
        w.batch("EXEC procession_database_create 'Second', 'state'").ok()
    server.stop()
    shutil.copy(server.data / "Second.db", server.data / "StateService.db")
    server.start()
    check_damaged(server, "belongs to another database")
    assert states(server)["Second"] == ("online", None)


def test_a_backup_of_the_same_database_is_welcome(server):
    with contextlib.closing(sqlite3.connect(server.data / "StateService.db")) as db:
        db.execute("VACUUM INTO ?", (str(server.dir / "backup.db"),))
    server.start()
    with Wire(server).login(database=STATE) as w:
        w.batch("EXEC proc_AddItem 'later', 0x01, 20").ok()
    server.stop()
    shutil.copy(server.dir / "backup.db", server.data / "StateService.db")
    server.start()
    assert items(server) == ["kept"]
    assert states(server)[STATE] == ("online", None)


def test_a_backup_from_before_identities_is_welcome(server):
    with contextlib.closing(sqlite3.connect(server.data / "StateService.db")) as db:
        db.execute("DROP TABLE procession_file")
        db.commit()
    server.start()
    assert items(server) == ["kept"]
    assert "file_without_identity" in server.log()
    server.restart()
    assert server.log().count("file_without_identity") == 1


def test_a_copy_becomes_a_database_of_its_own(server):
    shutil.copy(server.data / "StateService.db", server.data / "Copy.db")
    server.start()
    with Wire(server).login(database="master") as w:
        w.batch("EXEC procession_database_create 'Copy', 'state'").ok()
    assert items(server, "Copy") == ["kept"]
    server.stop()
    shutil.copy(server.data / "Copy.db", server.data / "StateService.db")
    server.start()
    check_damaged(server, "belongs to another database")


# --- the WAL


FRAME = 24 + 4096


def frames(path):
    """How many frames of the WAL belong to it: those with its salt."""
    data = path.read_bytes()
    count = 0
    while data[32 + count * FRAME + 8:32 + count * FRAME + 16] == data[16:24]:
        count += 1
    return count


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 0x10]))


@pytest.fixture
def killed(server):
    """kill -9, with forty commits in the WAL."""
    server.start()
    with Wire(server).login(database=STATE) as w:
        for i in range(40):
            w.batch(f"EXEC proc_AddItem 'item-{i:03}', 0x01, 20").ok()
    server.kill()
    server.wal = server.data / "StateService.db-wal"
    server.whole = [f"item-{i:03}" for i in range(40)] + ["kept"]
    return server


def middle(path):
    flip(path, 32 + frames(path) // 2 * FRAME + 2000)


def head(path):
    flip(path, 18)


def cut(path):
    os.truncate(path, 32 + frames(path) // 2 * FRAME + 100)


def last(path):
    flip(path, 32 + frames(path) * FRAME - 1000)


@pytest.mark.parametrize("harm", (middle, head, cut, last))
def test_a_log_that_lost_commits_is_told(killed, harm):
    """SQLite recovers what is before the damage, without a word, and would write over the rest."""
    harm(killed.wal)
    damaged = killed.wal.read_bytes()
    killed.start()
    check_damaged(killed, "is damaged: of ")
    killed.stop()
    assert killed.wal.read_bytes() == damaged, "nobody has touched it"
    killed.settings["accept_as_found"] = STATE
    killed.start()
    found = items(killed)
    assert len(found) < 41 and found == killed.whole[:len(found) - 1] + ["kept"][:1], found
    assert "wal_damage_accepted" in killed.log()
    del killed.settings["accept_as_found"]
    killed.restart()
    assert items(killed) == found


def test_a_damaged_log_of_the_system_store_stops_the_start(server):
    server.start()
    with Wire(server).login(database="master") as w:
        for i in range(5):
            w.batch(f"EXEC procession_database_set 'StateService', 'durable', {1000 + i}").ok()
    server.kill()
    middle(server.data / "system.db-wal")
    assert "system.db-wal" in refused(server)
    server.settings["accept_as_found"] = "master"
    server.start()


def test_a_torn_end_is_no_damage(killed):
    """What was being written when the server died: a frame by half, and a whole one that follows no other."""
    end = 32 + frames(killed.wal) * FRAME
    with open(killed.wal, "r+b") as file:
        whole = file.read()
        file.seek(end)
        file.write(whole[end - FRAME:end - 2000] + bytes(2000) + whole[end - 5 * FRAME:end])
    killed.start()
    assert items(killed) == killed.whole
    assert "event=wal_" not in killed.log()


def test_a_log_begun_anew_is_another_one(killed):
    with contextlib.closing(sqlite3.connect(killed.data / "StateService.db")) as db:
        killed.start()
        assert db.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()[0] == 0
        salt = killed.wal.read_bytes()[16:24]
        with Wire(killed).login(database=STATE) as w:
            for i in range(5):
                w.batch(f"EXEC proc_AddItem 'next-{i}', 0x01, 20").ok()
        assert killed.wal.read_bytes()[16:24] != salt
        killed.kill()
        killed.start()
        assert len(items(killed)) == 46
        killed.kill()
    assert "event=wal_" not in killed.log()


def test_a_log_that_is_gone_is_warned_of(killed):
    """Another program may have copied it into the file, as sqlite3 does when it closes: that is no reason to refuse."""
    with contextlib.closing(sqlite3.connect(killed.data / "StateService.db")) as db:
        assert db.execute("SELECT count(*) FROM item").fetchone() == (41,)
    assert not killed.wal.exists()
    killed.start()
    assert items(killed) == killed.whole
    assert killed.log().count("wal_missing") == 1
    killed.restart()
    assert killed.log().count("wal_missing") == 1


def test_a_clean_stop_leaves_no_mark(server):
    server.start()
    with Wire(server).login(database=STATE) as w:
        w.batch("EXEC proc_AddItem 'item', 0x01, 20").ok()
    assert (server.data / "StateService.db-mark").stat().st_size > 0
    server.stop()
    assert not (server.data / "StateService.db-mark").exists()
    server.start()
    assert "wal_missing" not in server.log()


def test_a_relaxed_database_marks_what_it_has_flushed(server):
    server.start()
    with Wire(server).login(database="master") as w:
        w.batch("EXEC procession_database_set 'StateService', 'relaxed', 10").ok()
    with Wire(server).login(database=STATE) as w:
        for i in range(20):
            w.batch(f"EXEC proc_AddItem 'item-{i:03}', 0x01, 20").ok()
    wal, mark = server.data / "StateService.db-wal", server.data / "StateService.db-mark"
    deadline = time.monotonic() + 20
    while len(mark.read_bytes()) < 16 or int.from_bytes(mark.read_bytes()[12:16], "little") < frames(wal):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    server.kill()
    middle(wal)
    server.start()
    check_damaged(server, "is damaged: of ")


# --- one server a folder


@pytest.fixture
def second(server):
    made = Server(data=server.data)
    yield made
    made.kill()
    made.remove()


def test_a_second_server_is_refused_though_the_lock_is_deleted(server, second):
    server.start()
    assert f"process id {server.process.pid}" in refused(second)
    (server.data / "lock").unlink()
    assert "in use by another server" in refused(second)
    moved = server.dir / "moved"
    server.data.rename(moved)
    second.data = moved
    assert "in use by another server" in refused(second)
    moved.rename(server.data)
    server.restart()


def test_a_second_server_is_refused_files_by_another_name(server, second):
    """cp -al: another folder, the same files."""
    second.data = server.dir / "links"
    shutil.copytree(server.data, second.data, copy_function=os.link)
    (second.data / "lock").unlink(missing_ok=True)
    server.start()
    assert "in use by another server" in refused(second)


def test_other_programs_read_and_write_beside_the_server(server):
    server.start()
    with Wire(server).login(database=STATE) as w:
        w.batch("EXEC proc_AddItem 'mine', 0x01, 20").ok()
        program = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(\"UPDATE item SET cookie = 7 WHERE id = 'mine'\"); db.commit(); " \
                  "print(db.execute('SELECT count(*) FROM item').fetchall())"
        out = subprocess.run(["/usr/bin/python3", "-c", program, str(server.data / "StateService.db")], capture_output=True, text=True, timeout=30, check=True)
        assert out.stdout == "[(2,)]\n"
        w.batch("EXEC proc_AddItem 'after', 0x01, 20").ok()
    assert items(server) == ["after", "kept", "mine"]
    server.signal(signal.SIGTERM)


def test_a_name_that_is_no_database_is_told(server):
    server.settings["set_aside"] = "StateServise"
    server.settings["accept_as_found"] = "Translation,nobody"
    server.start()
    server.wait_log(r"event=unknown_database setting=set_aside name=StateServise")
    server.wait_log(r"event=unknown_database setting=accept_as_found name=nobody")
    assert items(server) == ["kept"]
