"""procession database drop: by command and over TDS, with sessions in it, and whatever step a crash cuts short: it is there, or it is gone."""
import contextlib
import os
import pty
import random
import select
import threading
import time

import pytds
import pytest

from support.server import Server, command_binary
from support.store import sqlite_only
from test_cli import Cli

needs_files = sqlite_only("looks at files")


@pytest.fixture
def cli(server):
    return Cli(server)


def connect(server, database="master", **options):
    return pytds.connect(server.host, database, options.pop("user", "sa"), options.pop("password", server.password), port=server.port, autocommit=True)


def names(cli):
    return {row["name"] for row in cli.json("database", "list")}


def files(server, name):
    return sorted(f for f in os.listdir(server.data) if f.startswith(name))


def wait_until(condition, timeout=60):
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_database_goes_with_its_rights_sessions_and_files(cli, server):
    cli.ok("database", "create", "Short", "--service", "state")
    made = cli.json("login", "add", "guest", "--generate", "--database", "Short")
    cli.ok("grant", "guest", "Short", "execute,select")
    with connect(server, "Short", user="guest", password=made["password"]) as db:
        db.cursor().execute("EXEC proc_AddItem 'a', 0x01, 20")
        assert cli.ok("database", "drop", "Short", "--confirm", "Short") == "database dropped\n"
        with pytest.raises(Exception):
            for _ in range(100):
                db.cursor().execute("SELECT COUNT(*) FROM dbo.Items")
                time.sleep(0.05)
    assert "Short" not in names(cli)
    assert not [r for r in cli.json("grant", "list") if r["database"] == "Short"]
    assert next(r for r in cli.json("login", "list") if r["name"] == "guest")["default_database"] != "Short"
    assert not [r for r in cli.json("status")["numbers"] if r["database"] == "Short"]
    wait_until(lambda: not files(server, "Short"))
    server.wait_log("event=audit .*action=procession_database_drop")
    assert "There is no database" in cli.run("database", "drop", "Short", "--confirm", "Short").stderr
    with pytest.raises(pytds.Error):
        connect(server, "Short")
    cli.ok("database", "create", "Short", "--service", "word")     # the name is free, also for another service
    with connect(server, "Short") as db, db.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM dbo.Jobs")
        assert cursor.fetchone()[0] == 0
    assert len([r for r in cli.json("status")["numbers"] if r["database"] == "Short" and r["name"] == "queue_length"]) == 1
    cli.ok("database", "drop", "Short", "--confirm", "Short")


def test_the_last_of_its_kind_needs_force(cli):
    refused = cli.run("database", "drop", "Translation", "--confirm", "Translation")
    assert refused.returncode == 1 and "--force" in refused.stderr and "Translation" in names(cli)
    with Server() as server:
        other = Cli(server)
        other.ok("database", "drop", "Translation", "--force", "--confirm", "Translation")
        assert "Translation" not in names(other)
        server.restart()
        assert "Translation" not in names(other) and other.json("status")


def test_the_name_is_asked_for(cli, server):
    cli.ok("database", "create", "Asked", "--service", "state")
    nobody = cli.run("database", "drop", "Asked")
    assert nobody.returncode == 2 and "--confirm" in nobody.stderr
    assert cli.run("database", "drop", "Asked", "--confirm", "asked").returncode == 2
    for answer, status in (("no\n", 2), ("Asked\n", 0)):
        pid, fd = pty.fork()
        if pid == 0:
            os.execv(str(command_binary()), ["procession", "--server", server.address, "--password-file", str(server.dir / "password"), "database", "drop", "Asked"])
        shown = b""
        while b"Type its name" not in shown:
            assert select.select([fd], [], [], 60)[0], shown
            shown += os.read(fd, 4096)
        os.write(fd, answer.encode())
        while True:
            try:
                if not os.read(fd, 4096):
                    break
            except OSError:
                break
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == status
        assert ("Asked" in names(cli)) == (status != 0)
        os.close(fd)


def test_over_tds_it_is_for_administrators_outside_of_the_database(cli, server):
    cli.ok("database", "create", "Mine", "--service", "state")
    made = cli.json("login", "add", "common", "--generate")
    cli.ok("grant", "common", "Mine", "execute,select")

    def number(db, text):
        try:
            with db.cursor() as cursor:
                cursor.execute(text)
                while cursor.nextset():
                    pass
        except pytds.Error as e:
            return e.number
        return 0

    with connect(server, "Mine", user="common", password=made["password"]) as db:
        assert number(db, "EXEC master..procession_database_drop 'Mine', 1") == 229
    with connect(server, "Mine") as db:
        assert number(db, "EXEC procession_database_drop 'Mine', 1") == 3702
        assert number(db, "USE master; EXEC procession_database_drop 'master', 1") == 50020
        assert number(db, "EXEC Mine..proc_AddItem 'a', 0x01, 20") == 0
        assert number(db, "EXEC procession_database_drop 'mine'") == 0
    assert "Mine" not in names(cli)


def test_calls_and_transactions_in_it_are_ended(server, cli):
    cli.ok("database", "create", "Busy", "--service", "state")
    done, failed = threading.Event(), []

    def work(transaction):
        try:
            with connect(server, "Busy") as db:
                for n in range(100000):
                    db.cursor().execute(f"{'BEGIN TRANSACTION;' if transaction else ''} EXEC proc_AddItem '{transaction}-{n}', 0x01, 20")
                    if done.is_set():
                        break
                    if transaction:
                        time.sleep(0.2)
                        db.cursor().execute("COMMIT")
        except Exception as e:      # whatever a driver says of a session that was ended
            failed.append(e)

    threads = [threading.Thread(target=work, args=(t,)) for t in ("", "", "t", "")]
    for t in threads:
        t.start()
    time.sleep(0.5)
    cli.ok("database", "drop", "Busy", "--confirm", "Busy")
    for t in threads:
        t.join(60)
    done.set()
    assert len(failed) == len(threads) and "Busy" not in names(cli)
    assert cli.run("ping").returncode == 0


def close_quietly(db):
    with contextlib.suppress(Exception):        # whatever a driver says of a session that was ended
        db.close()


def test_open_transactions_end_with_the_database(server, cli):
    """Snapshots, too, each with a connection of its own, while their sessions are ended and roll them back: whoever comes first."""
    for n in range(4):
        cli.ok("database", "create", "Open", "--service", "state")
        with contextlib.ExitStack() as stack:
            for level in ["SNAPSHOT"] * 12 + ["READ COMMITTED"]:
                db = connect(server, "Open")
                stack.callback(close_quietly, db)
                db.cursor().execute(f"SET TRANSACTION ISOLATION LEVEL {level} BEGIN TRANSACTION SELECT COUNT(*) FROM dbo.Items"
                                    + (" EXEC proc_AddItem 'kept', 0x01, 20" if level == "READ COMMITTED" else ""))
            cli.ok("database", "drop", "Open", "--confirm", "Open")
            assert cli.run("ping").returncode == 0, n


@needs_files
def test_a_damaged_one_can_be_dropped():
    with Server() as server:
        cli = Cli(server)
        cli.ok("database", "create", "Broken", "--service", "state")
        server.stop()
        (server.data / "Broken.db").write_bytes(b"nonsense" * 1000)
        server.start()
        assert next(r for r in cli.json("database", "list") if r["name"] == "Broken")["state"] == "damaged"
        cli.ok("database", "drop", "Broken", "--confirm", "Broken")
        assert "Broken" not in names(cli) and cli.run("status").returncode == 0
        wait_until(lambda: not files(server, "Broken"))


@needs_files
def test_a_drop_that_a_crash_cut_short_is_undone_or_finished():
    with Server() as server:
        cli = Cli(server)
        cli.ok("database", "create", "Half", "--service", "state")
        with connect(server, "Half") as db:
            db.cursor().execute("EXEC proc_AddItem 'kept', 0x01, 20")
        server.stop()
        os.rename(server.data / "Half.db", server.data / "Half.db-dropped")     # put away, and the row is there
        (server.data / "Gone.db-dropped").write_bytes(b"x" * 4096)              # put away, and the row is gone
        server.start()
        server.wait_log("event=drop_undone")
        with connect(server, "Half") as db, db.cursor() as cursor:
            cursor.execute("SELECT Id FROM dbo.Items")
            assert [row[0] for row in cursor.fetchall()] == ["kept"]
        assert files(server, "Gone") == []


@needs_files
@pytest.mark.parametrize("seed", range(2))
def test_a_server_that_is_killed_meanwhile_has_it_as_a_whole_or_not_at_all(seed):
    rng = random.Random(seed)
    with Server() as server:
        cli = Cli(server)
        for turn in range(3):
            if "Victim" not in names(cli):
                cli.ok("database", "create", "Victim", "--service", "state")
                with connect(server, "Victim") as db:
                    db.cursor().execute("EXEC proc_AddItem 'kept', 0x01, 20")
            thread = threading.Thread(target=lambda: cli.run("database", "drop", "Victim", "--confirm", "Victim"))
            thread.start()
            time.sleep(rng.random() * 0.08)
            server.kill()
            thread.join()
            server.start()
            if "Victim" in names(cli):
                assert all(r["state"] == "online" for r in cli.json("database", "list"))
                with connect(server, "Victim") as db, db.cursor() as cursor:
                    cursor.execute("SELECT Id FROM dbo.Items")
                    assert [row[0] for row in cursor.fetchall()] == ["kept"]
            else:
                assert files(server, "Victim") == []
