"""Data that release 0.1.0 has written is opened by this program with all that was in it (docs/upgrade.md).

The fixture is a data folder after a clean stop, made by a build of commit 9f13e3b with the calls below."""
import pathlib
import tarfile

import pytds

from support.server import Server
from test_cli import Cli

FIXTURE = pathlib.Path(__file__).parent / "data-0.1.0.tar.xz"
MADE = [
    ("master", "EXEC procession_login_add @name = 'shop', @password = 'a long secret', @default_database = 'StateService'"),
    ("master", "EXEC procession_grant @login = 'shop', @database = 'StateService', @rights = 'execute,select'"),
    ("master", "EXEC procession_database_create @name = 'Second', @service = 'state', @commit = 'relaxed', @commit_interval = 500"),
    ("StateService", "EXEC proc_AddItem 'old', 0x00112233, 525600000"),
    ("Second", "EXEC proc_AddItem 'older', 0xFF, 525600000"),
    ("ScheduledJobs", "EXEC proc_MIP_AddScheduledJob @JobId = 'b00ae9a1-0474-474e-b348-f6a8bcc95331', @Assembly = N'Microsoft.Office.Server, "
                      "Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c', "
                      "@Class = N'Microsoft.Office.Server.Audience.AudienceCompilationJob', @Recurrence = N'daily at 01:00:00', "
                      "@NextDueTime = '2090-01-31T01:00:00', @DisplayName = N'nightly'"),
]


def connect(server, database, login="sa", password=None):
    return pytds.connect(server.host, database, login, password or server.password, port=server.port, autocommit=True, login_timeout=120)


def rows(server, database, text, **login):
    with connect(server, database, **login) as db:
        cursor = db.cursor()
        cursor.execute(text)
        return cursor.fetchall()


def make(server):
    """What the fixture was made with: run by hand against the old program."""
    for database, text in MADE:
        with connect(server, database) as db:
            db.cursor().execute(text)


def test_data_of_the_first_release_is_opened_with_all_that_is_in_it(tmp_path):
    with tarfile.open(FIXTURE) as tar:
        tar.extractall(tmp_path)
    with Server(data=tmp_path / "data") as server:
        cli = Cli(server)
        databases = {d["name"]: d for d in cli.json("database", "list")}
        assert all(d["state"] == "online" for d in databases.values())
        assert (databases["Second"]["commit"], databases["Second"]["commit_interval"]) == ("relaxed", 500)
        assert rows(server, "StateService", "SELECT Id, Bytes FROM dbo.Items", login="shop", password="a long secret") == [("old", 4)]
        assert rows(server, "Second", "SELECT Id, Bytes FROM dbo.Items") == [("older", 1)]
        jobs = cli.json("schedule", "list")
        assert len(jobs) == 1 and "nightly" in str(jobs[0])
        for name in databases:
            assert cli.json("database", "check", name)[0]["report"].strip() == "ok"
        cli.ok("backup", str(tmp_path / "after.tar"))
    with Server(data=tmp_path / "data") as server:
        assert rows(server, "StateService", "SELECT COUNT(*) FROM dbo.Items") == [(1,)]
