"""procession backup, backup check, restore: what was acknowledged before the moment is there, nothing by half, and what is wrong is said."""
import io
import json
import os
import shutil
import subprocess
import tarfile
import threading
import time

import pytds
import pytest

from support.server import Server, is_sanitized
from test_cli import Cli


def connect(server, database="StateService"):
    return pytds.connect(server.host, database, "sa", server.password, port=server.port, autocommit=True, login_timeout=120)


@pytest.fixture
def cli(server):
    return Cli(server)


def restored(cli, archive, folder):
    cli.ok("restore", str(archive), str(folder), connect=False)
    return Server(data=folder)


def items(server, database="StateService"):
    with connect(server, database) as db:
        cursor = db.cursor()
        cursor.execute("SELECT Id FROM dbo.Items")
        return {row[0] for row in cursor.fetchall()}


def test_a_backup_has_databases_logins_and_rights(cli, server, tmp_path):
    cli.ok("login", "add", "saved", "--generate")
    cli.ok("grant", "saved", "StateService", "execute")
    cli.ok("database", "create", "Further", "--service", "state")
    with connect(server) as db:
        db.cursor().execute("EXEC proc_AddItem 'kept', 0x01, 20")
    archive = tmp_path / "all.tar"
    made = cli.json("backup", str(archive))
    assert made["file"] == str(archive) and made["databases"] >= 6
    assert cli.json("backup", "check", str(archive), connect=False)["ok"] is True
    with tarfile.open(archive) as tar:
        manifest = json.load(tar.extractfile("manifest.json"))
        assert tar.getnames()[0] == "manifest.json"
    assert {"master", "StateService", "Further"} <= {d["name"] for d in manifest["databases"]}
    with connect(server) as db:
        db.cursor().execute("EXEC proc_AddItem 'later', 0x01, 20")
    with restored(cli, archive, tmp_path / "data") as copy:
        other = Cli(copy)
        assert items(copy) >= {"kept"} and "later" not in items(copy)
        assert {"login": "saved", "database": "StateService", "rights": "execute"} in other.json("grant", "list")
        assert all(d["state"] == "online" for d in other.json("database", "list"))
        assert other.json("database", "check", "StateService")[0]["report"].strip() == "ok"
    assert not (server.data / "backup-staging").exists()


def test_a_compressed_backup_of_one_database_in_a_folder_keeps_the_last(cli, server, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    (folder / "procession-20200101T000000Z.tar.zst").write_text("old")
    (folder / "notes.txt").write_text("mine")
    made = cli.json("backup", str(folder), "--database", "StateService", "--keep", "1")
    assert made["databases"] == 2
    assert sorted(os.listdir(folder)) == ["notes.txt", os.path.basename(made["file"])]
    assert cli.json("backup", "check", made["file"], connect=False)["databases"] == 2


def test_what_is_asked_wrongly_is_said(cli, tmp_path):
    assert "There is no database 'Nowhere'" in cli.run("backup", str(tmp_path / "x.tar"), "--database", "Nowhere").stderr
    assert cli.run("backup", str(tmp_path / "x.tar"), "--keep", "3").returncode == 2
    (tmp_path / "there.tar").write_text("")
    assert "exists already" in cli.run("backup", str(tmp_path / "there.tar")).stderr
    stopped = cli.run("backup", str(tmp_path / "y.tar"), "--server", "127.0.0.1:1", "--password-file", str(cli.server.dir / "password"), connect=False)
    assert stopped.returncode == 3 and not (tmp_path / "y.tar").exists()
    missing = cli.run("backup", str(tmp_path / "no" / "such" / "z.tar"))
    assert missing.returncode == 1 and "cannot write" in missing.stderr


def test_only_an_administrator_may(cli, server, tmp_path):
    made = cli.json("login", "add", "nobodys", "--generate")
    secret = tmp_path / "secret"
    secret.write_text(made["password"] + "\n")
    refused = cli.run("backup", str(tmp_path / "b.tar"), "--user", "nobodys", "--password-file", str(secret))
    assert refused.returncode == 1 and not (tmp_path / "b.tar").exists()


def changed(archive, target, change):
    """The archive with its members changed: change(name, bytes) gives the new bytes, or None to leave it out."""
    with tarfile.open(archive) as old, tarfile.open(target, "w") as new:
        for member in old:
            data = change(member.name, old.extractfile(member).read())
            if data is not None:
                member.size = len(data)
                new.addfile(member, io.BytesIO(data))
    return str(target)


def test_a_broken_archive_is_refused_and_nothing_is_restored(cli, tmp_path):
    archive = tmp_path / "good.tar"
    cli.ok("backup", str(archive))

    def flip(name, data):
        return data[:5000] + bytes([data[5000] ^ 1]) + data[5001:] if name == "StateService.db" else data

    def newer(name, data):
        return data.replace(b'"version": "0.', b'"version": "9.') if name == "manifest.json" else data

    def outside(name, data):
        return data.replace(b'"StateService.db"', b'"../StateService.db"') if name == "manifest.json" else data

    cut = tmp_path / "cut.tar"
    cut.write_bytes(archive.read_bytes()[:200000])
    nonsense = tmp_path / "nonsense.tar"
    nonsense.write_bytes(os.urandom(4096))
    extra = tmp_path / "extra.tar"
    shutil.copy(archive, extra)
    with tarfile.open(extra, "a") as tar:
        tar.addfile(tarfile.TarInfo("surprise"), io.BytesIO())
    cases = [(changed(archive, tmp_path / "flip.tar", flip), "SHA-256"), (changed(archive, tmp_path / "newer.tar", newer), "newer than this program"),
             (changed(archive, tmp_path / "lost.tar", lambda n, d: None if n == "StateService.db" else d), "missing"),
             (changed(archive, tmp_path / "outside.tar", outside), "manifest"), (str(cut), "damaged"), (str(nonsense), ""), (str(extra), "does not name"),
             (str(tmp_path / "absent.tar"), "cannot be opened")]
    for file, words in cases:
        check = cli.run("backup", "check", file, connect=False)
        assert check.returncode == 1 and words in check.stderr, (file, check.stderr)
        folder = tmp_path / "target"
        assert cli.run("restore", file, str(folder), connect=False).returncode == 1
        assert not folder.exists()


def test_a_restore_needs_an_empty_folder(cli, tmp_path):
    archive = tmp_path / "a.tar"
    cli.ok("backup", str(archive))
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "something").write_text("precious")
    refused = cli.run("restore", str(archive), str(tmp_path / "used"), connect=False)
    assert refused.returncode == 1 and "not empty" in refused.stderr and os.listdir(tmp_path / "used") == ["something"]


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk needs root")
def test_a_full_disk_is_said_on_either_side(tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", str(small)], check=True)
    try:
        with Server(data=small / "data") as server:
            cli = Cli(server)
            with connect(server) as db:
                for i in range(6):
                    db.cursor().execute(f"EXEC proc_AddItem 'large-{i}', 0x{os.urandom(400000).hex()}, 20")
            refused = cli.run("backup", str(tmp_path / "full.tar"))
            assert refused.returncode == 1 and ("MiB" in refused.stderr or "full" in refused.stderr), refused.stderr
            assert cli.run("ping").returncode == 0
            assert not (small / "data" / "backup-staging").exists()
        with Server() as server:
            cli = Cli(server)
            subprocess.run(["dd", "if=/dev/zero", f"of={small}/fill", "bs=1M"], capture_output=True)
            refused = cli.run("backup", str(small / "full.tar"))
            assert refused.returncode == 1 and "No space left" in refused.stderr, refused.stderr
            assert "full.tar" not in " ".join(os.listdir(small))
    finally:
        subprocess.run(["umount", "-l", str(small)])


class Writers:
    """Clients that add items one after another and note what was acknowledged. Each writes a pair in one transaction: both or none."""

    def __init__(self, server, count):
        self.server, self.acknowledged, self.stop = server, [[] for _ in range(count)], threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(count)]

    def run(self, number):
        database = "StateService" if number % 2 == 0 else "Other"
        with connect(self.server, database) as db:
            cursor, n = db.cursor(), 0
            while not self.stop.is_set():
                name = f"w{number}-{n}"
                cursor.execute(f"BEGIN TRANSACTION; EXEC proc_AddItem '{name}-a', 0x0102, 60; EXEC proc_AddItem '{name}-b', 0x0102, 60; COMMIT")
                self.acknowledged[number].append(name)
                n += 1

    def across(self):
        """The same name into one database, and when that is answered into the other: no moment has the second without the first."""
        with connect(self.server, "StateService") as first, connect(self.server, "Other") as second:
            n = 0
            while not self.stop.is_set():
                first.cursor().execute(f"EXEC proc_AddItem 'across-{n}-a', 0x01, 60")
                second.cursor().execute(f"EXEC proc_AddItem 'across-{n}-a', 0x01, 60")
                n += 1

    def __enter__(self):
        self.threads.append(threading.Thread(target=self.across))
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *rest):
        self.stop.set()
        for thread in self.threads:
            thread.join()


def backups_under_load(tmp_path, writers, backups):
    taken = []
    with Server() as server:
        cli = Cli(server)
        cli.ok("database", "create", "Other", "--service", "state")
        with Writers(server, writers) as load:
            for i in range(backups):
                time.sleep(0.3)
                before = [list(names) for names in load.acknowledged]
                cli.ok("backup", str(tmp_path / f"{i}.tar"))
                taken.append(before)
    for i, before in enumerate(taken):
        with restored(cli, tmp_path / f"{i}.tar", tmp_path / f"data{i}") as copy:
            found = {0: items(copy, "StateService"), 1: items(copy, "Other")}
            for number, names in enumerate(before):
                missing = [n for n in names if f"{n}-a" not in found[number % 2]]
                assert not missing, f"backup {i} lacks {missing[:5]}, acknowledged before it"
            early = {n for n in found[1] - found[0] if n.startswith("across")}
            assert not early, f"backup {i} has {early} in one database and not in the other: two moments"
            for there in found.values():
                halves = {n[:-2] for n in there if not n.startswith("across") and (n[:-2] + "-a" in there) != (n[:-2] + "-b" in there)}
                assert not halves, f"backup {i} has {halves} by half"
    assert sum(map(len, taken[-1])) > 0


def test_under_load_nothing_acknowledged_is_missing_and_nothing_is_there_by_half(tmp_path):
    backups_under_load(tmp_path, writers=4, backups=2)


@pytest.mark.long
def test_under_load_again_and_again(tmp_path):
    backups_under_load(tmp_path, writers=8, backups=20 if is_sanitized() else 60)


def test_a_server_that_stops_while_a_backup_is_taken_stops_cleanly(tmp_path):
    with Server() as server:
        cli = Cli(server)
        with connect(server, "master") as db:
            db.cursor().execute("EXEC procession_backup_begin")
        second = cli.run("backup", str(tmp_path / "s.tar"))
        assert second.returncode == 0 or "Another backup" in second.stderr
        server.restart()
        assert not (server.data / "backup-staging").exists()
        assert cli.run("ping", "--server", server.address).returncode == 0
