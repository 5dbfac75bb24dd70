"""procession backup where PostgreSQL keeps the databases: it says how these are saved, and saves what is outside of them."""
import contextlib
import io
import json
import subprocess
import tarfile

import pytest

from support import postgres
from support.calls import open_path
from support.proxy import Proxy
from support.server import Server, command_binary


@pytest.fixture(scope="module")
def server(pg):
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute("CREATE DATABASE saved")
    with Server(settings={"engine": "postgres", "postgres": pg.conninfo("saved")}, password=None, start_timeout=120) as made:
        yield made


def procession(*words):
    return subprocess.run([str(command_binary()), *map(str, words)], capture_output=True, text=True, timeout=120, check=False)


def test_what_is_outside_of_postgres_is_saved_and_restored(server, pg, tmp_path):
    archive, folder = tmp_path / "all.tar.zst", tmp_path / "data"
    done = procession("--data", server.data, "--json", "backup", archive)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["files"] == 3
    assert "pg_basebackup" in done.stderr and "pgBackRest" in done.stderr
    assert "3 files" in procession("backup", "check", archive).stdout
    said = procession("restore", archive, folder)
    assert said.returncode == 0 and "restore PostgreSQL" in said.stdout, said.stderr
    for name in ("server.crt", "server.key", "sa-password"):
        assert (folder / name).read_bytes() == (server.data / name).read_bytes()
        assert (folder / name).stat().st_mode & 0o777 == 0o600
    with Server(data=folder, settings={"engine": "postgres", "postgres": pg.conninfo("saved")}, password=None, start_timeout=120) as other:
        assert procession("--data", folder, "--encrypt", "require", "--ca-file", server.data / "server.crt", "status").returncode == 0, other.log()


def test_a_nightly_backup_keeps_the_last_ones(server, tmp_path):
    (tmp_path / "procession-20200101T000000Z.tar.zst").write_text("old")
    done = procession("--data", server.data, "backup", tmp_path, "--keep", "1")
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.iterdir())) == 1 and not (tmp_path / "procession-20200101T000000Z.tar.zst").exists()


@pytest.mark.parametrize("words", [["backup", "FILE", "--database", "StateService"], ["backup", "FILE", "elsewhere"]])
def test_databases_themselves_are_refused_and_how_it_is_done_is_said(server, tmp_path, words):
    elsewhere = words[-1] == "elsewhere"
    words = [tmp_path / "x.tar" if w == "FILE" else w for w in words if w != "elsewhere"]
    where = ["--server", server.address, "--password-file", server.data / "sa-password"] if elsewhere else ["--data", server.data]
    refused = procession(*where, *words)
    assert refused.returncode == 1 and "pg_basebackup" in refused.stderr and "--data" in refused.stderr
    assert not (tmp_path / "x.tar").exists()


def test_no_other_file_is_restored(server, tmp_path):
    """Of an archive that somebody has made: a file beside the databases is one of four."""
    archive = tmp_path / "all.tar"
    assert procession("--data", server.data, "backup", archive).returncode == 0
    with tarfile.open(archive) as old, tarfile.open(tmp_path / "bad.tar", "w") as new:
        for member in old:
            data = old.extractfile(member).read()
            if member.name == "manifest.json":
                assert {d["file"] for d in json.loads(data)["databases"]} == {"server.crt", "server.key", "sa-password"}
                data = data.replace(b'"file": "sa-password"', b'"file": ".bash_login"')
            member.name, member.size = member.name.replace("sa-password", ".bash_login"), len(data)
            new.addfile(member, io.BytesIO(data))
    assert procession("backup", "check", tmp_path / "bad.tar").returncode == 1
    assert procession("restore", tmp_path / "bad.tar", tmp_path / "bad").returncode == 1 and not (tmp_path / "bad").exists()


def test_an_earlier_state_is_taken_by_servers_that_start_and_by_no_other():
    """A base backup, and a fail-over after it: the server that has seen that takes the restored one for a primary of before."""
    reason = postgres.missing()
    if reason:
        pytest.skip(reason)
    with postgres.Postgres(settings={"wal_level": "replica"}) as primary, Proxy(primary.folder / ".s.PGSQL.5432") as proxy, \
            Server(settings={"engine": "postgres", "postgres": f"host=127.0.0.1 port={proxy.port} user=postgres dbname=postgres", "failover_timeout": 2}) as server, \
            contextlib.ExitStack() as stack:
        db = stack.enter_context(open_path("wire", server, "StateService"))
        assert db.batch("EXEC proc_AddItem 'kept', 0x01, 20").error is None
        restored, standby = postgres.Restored(primary), stack.enter_context(postgres.Standby(primary))
        stack.callback(restored.remove)
        assert db.batch("EXEC proc_AddItem 'gone', 0x01, 20").error is None
        restored.start()
        standby.promote()
        proxy.lead_to(standby.folder / ".s.PGSQL.5432")
        assert db.batch("SELECT Id FROM dbo.Items WHERE Id = 'kept'").rows == [("kept",)]
        proxy.lead_to(restored.folder / ".s.PGSQL.5432")
        told = db.batch("SELECT COUNT(*) FROM dbo.Items")
        assert told.error == 50013 and "the host was the primary before another one" in told.errors[0][2], told
        server.restart()
        with open_path("wire", server, "StateService") as again:
            assert again.batch("SELECT Id FROM dbo.Items").rows == [("kept",)]
