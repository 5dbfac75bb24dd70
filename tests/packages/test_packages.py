"""The Debian packages on a fresh Debian with systemd: installed, started, used, upgraded with data in place, removed, purged."""
import re
import shutil
import subprocess
import time

import pytest

import machine
from conftest import NAMES

OLDER = "0.0.9"
DATA = "/var/lib/procession"
DRIVER = """
import sys, pytds
with pytds.connect("127.0.0.1", "StateService", "web", sys.argv[1], port=1433, autocommit=True, login_timeout=600) as db:
    with db.cursor() as cursor:
        if len(sys.argv) > 2:
            cursor.callproc("proc_AddItem", (sys.argv[2], pytds.Binary(b"\\x01\\x02"), 600))
        cursor.execute("SELECT Id FROM dbo.Items ORDER BY Id")
        print(" ".join(row[0] for row in cursor.fetchall()))
"""
pytestmark = [pytest.mark.long, pytest.mark.skipif(machine.why_not() is not None, reason=str(machine.why_not()))]


def older(package, folder):
    """The same package as an older version whose configuration was a little different."""
    unpacked = folder / "unpacked"
    subprocess.run(["dpkg-deb", "-R", package, unpacked], check=True)
    control = unpacked / "DEBIAN" / "control"
    version = re.search(r"^Version: (.*)$", control.read_text(), re.M).group(1)
    control.write_text(control.read_text().replace(f"Version: {version}", f"Version: {OLDER}").replace(f"(= {version})", f"(= {OLDER})"))
    for settings in (unpacked / "etc" / "procession").glob("*.ini"):
        settings.write_text("# of an older version\n" + settings.read_text())
    made = folder / f"{package.name.split('_')[0]}_{OLDER}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", unpacked, made], check=True, capture_output=True)
    shutil.rmtree(unpacked)
    return made


@pytest.fixture(scope="module")
def debian(packages, tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    made = machine.Machine()
    for package in packages.values():
        shutil.copy(package, made.path(f"/root/{package.name.split('_')[0]}_new.deb"))
        shutil.copy(older(package, folder), made.path(f"/root/{package.name.split('_')[0]}_old.deb"))
    made.fetch(*[f"/root/{name}_new.deb" for name in NAMES], "libreoffice-writer")
    with made:
        yield made


def install(debian, which, *options):
    return debian.run("apt-get", "install", "-y", "--no-install-recommends", *options, "-o", "Dpkg::Options::=--force-confdef",
                      "-o", "Dpkg::Options::=--force-confold", *[f"/root/{name}_{which}.deb" for name in NAMES]).stdout


def procession(debian, *words):
    return debian.said("procession", "--data", DATA, *words)


def wait_for(condition, what, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(0.5)


def new_login(debian, name, database):
    """With a password file for its service. Returns the password."""
    said = procession(debian, "login", "add", name, "--generate", "--database", database)
    password = said.split("password ")[1].strip()
    procession(debian, "grant", name, database, "execute,select")
    debian.path(f"/etc/procession/{name}-password").write_text(password + "\n")
    return password


def server_runs_as_its_unit_says(debian):
    assert debian.said("systemctl", "is-active", "processiond") == "active"
    assert debian.said("systemctl", "is-enabled", "processiond") == "enabled"
    assert debian.said("systemctl", "show", "-P", "NRestarts", "processiond") == "0"
    pid = debian.said("systemctl", "show", "-P", "MainPID", "processiond")
    assert debian.said("stat", "-c", "%U", f"/proc/{pid}") == "procession"
    assert debian.said("stat", "-c", "%U %a", DATA) == "procession 700"
    assert "online" in procession(debian, "database", "list")
    for unit in ("processiond.service", "procession-scheduler.service", "procession-worker@convert.service", "procession-backup.service",
                 "procession-backup.timer"):
        checked = debian.run("systemd-analyze", "verify", "--man=no", unit, check=False)
        assert checked.returncode == 0 and "procession" not in checked.stderr, checked.stderr
    assert debian.said("ls", "/usr/share/procession/prometheus") == "procession.rules.yml"
    assert debian.path("/usr/share/man/man1/procession-jobs.1.gz").exists()
    journal = debian.journal("processiond")
    assert debian.said("cat", f"{DATA}/sa-password") not in journal and f"{DATA}/sa-password" in journal
    assert re.search(r" processiond\[\d+\]: ", journal)


def server_takes_a_reload(debian):
    settings = debian.path("/etc/procession/processiond.ini")
    settings.write_text(settings.read_text() + "\nlog_logins = off\nreaders = 3\n")
    assert debian.run("procession", "config", "check", "/etc/procession/processiond.ini")
    debian.run("systemctl", "reload", "processiond")
    wait_for(lambda: "setting=readers" in debian.journal("processiond"), lambda: debian.journal("processiond"))
    assert re.search(r'setting=readers takes_effect="after a restart"', debian.journal("processiond"))


def scheduler_runs_a_job(debian):
    new_login(debian, "scheduler", "ScheduledJobs")
    debian.run("chown", "procession-scheduler", "/etc/procession/scheduler-password")
    debian.run("chmod", "400", "/etc/procession/scheduler-password")
    debian.path("/etc/default/procession-scheduler").write_text(
        "PROCESSION_SERVER=127.0.0.1:1433\nPROCESSION_USER=scheduler\nPROCESSION_PASSWORD_FILE=/etc/procession/scheduler-password\n")
    debian.path("/etc/procession/scheduler.ini").write_text(
        "[scheduler]\ninterval = 1\n[handler:UserProfileImportJob]\ncommand = /bin/sh -c 'id -un; cat'\n")
    procession(debian, "schedule", "add", "UserProfileImportJob", "--job-data", "IsIncremental#True", "--due", "now")
    debian.run("systemctl", "start", "procession-scheduler")
    wait_for(lambda: "event=finished" in debian.journal("procession-scheduler"), lambda: debian.journal("procession-scheduler"))
    assert "outcome=ok" in debian.journal("procession-scheduler") and "procession-scheduler" in debian.journal("procession-scheduler")
    debian.run("systemctl", "reload", "procession-scheduler")
    wait_for(lambda: "event=reloaded" in debian.journal("procession-scheduler"), lambda: debian.journal("procession-scheduler"))


def worker_translates_in_its_jail(debian):
    """By sed: what is tried is the unit, which must not forbid the jail."""
    new_login(debian, "worker", "Translation")
    debian.run("chown", "procession-worker", "/etc/procession/worker-password")
    debian.run("chmod", "400", "/etc/procession/worker-password")
    debian.path("/etc/default/procession-worker").write_text(
        "PROCESSION_SERVER=127.0.0.1:1433\nPROCESSION_USER=worker\nPROCESSION_PASSWORD_FILE=/etc/procession/worker-password\n")
    debian.path("/etc/procession/worker.ini").write_text(
        "[worker]\nroots = /srv/documents\n[engines]\nen-de = document /bin/sed s/house/Haus/\n")
    folder = debian.path("/srv/documents")
    (folder / "out").mkdir(parents=True)
    (folder / "a.txt").write_text("a house\n")
    debian.run("chown", "-R", "procession-worker", "/srv/documents")
    debian.run("systemctl", "start", "procession-worker@translate")
    procession(debian, "translate", "/srv/documents/a.txt", "--from", "en", "--to", "de", "--out", "/srv/documents/out", "--queue")
    wait_for(lambda: list(folder.glob("out/a*.txt")), lambda: debian.journal("procession-worker@translate"))
    assert next(folder.glob("out/a*.txt")).read_text() == "a Haus\n"
    debian.run("systemctl", "stop", "procession-worker@translate")
    assert debian.run("systemctl", "is-failed", "procession-worker@translate", check=False).stdout.strip() == "inactive"


def worker_converts_in_its_jail(debian):
    """Without LibreOffice it says what is missing; then with it, by the same unit and the same settings."""
    procession(debian, "grant", "worker", "WordAutomation", "execute,select")
    debian.run("systemctl", "start", "procession-worker@convert")
    wait_for(lambda: "apt-get install libreoffice-writer" in debian.journal("procession-worker@convert"), lambda: debian.journal("procession-worker@convert"))
    debian.run("apt-get", "install", "-y", "--no-install-recommends", "libreoffice-writer")
    debian.run("systemctl", "restart", "procession-worker@convert")
    procession(debian, "convert", "/srv/documents/a.txt", "--to", "pdf", "--out", "/srv/documents/out", "--queue")
    wait_for(debian.path("/srv/documents/out/a.pdf").exists, lambda: debian.journal("procession-worker@convert"))
    assert debian.path("/srv/documents/out/a.pdf").read_bytes().startswith(b"%PDF-")
    debian.run("systemctl", "stop", "procession-worker@convert")
    assert debian.run("systemctl", "is-failed", "procession-worker@convert", check=False).stdout.strip() == "inactive"


def go_back(debian):
    """As docs/upgrade.md says."""
    archive = next(debian.path("/var/backups/procession").glob("*.tar.zst")).name
    install(debian, "old", "--allow-downgrades")
    for command in ("systemctl stop processiond", f"mv {DATA} {DATA}.newer", f"install -d -o procession -g procession -m 700 {DATA}",
                    f"procession restore /var/backups/procession/{archive} {DATA}",
                    f"cp -p {DATA}.newer/sa-password {DATA}.newer/server.crt {DATA}.newer/server.key {DATA}", "systemctl start processiond"):
        debian.run(*command.split())
    assert debian.said("dpkg-query", "-W", "-f", "${Version}", "procession-server") == OLDER
    debian.run("rm", "-r", f"{DATA}.newer")


def backup_is_made_and_can_be_checked(debian):
    debian.run("systemctl", "start", "procession-backup.service")
    archive = next(debian.path("/var/backups/procession").glob("*.tar.zst"))
    assert debian.said("stat", "-c", "%U %a", "/var/backups/procession") == "procession 700"
    debian.run("procession", "backup", "check", f"/var/backups/procession/{archive.name}")


def items(debian, password, *new):
    return debian.outside("/usr/bin/python3", "-c", DRIVER, password, *new).stdout.split()


def no_trace(debian):
    """Of files, users and units; but for what the administrator has made himself."""
    for path in ("/etc/procession", "/etc/default", DATA, "/var/lib/procession-scheduler", "/var/lib/procession-worker", "/usr/bin", "/usr/sbin",
                 "/lib/systemd/system", "/etc/systemd/system", "/usr/lib/sysusers.d", "/usr/lib/tmpfiles.d", "/usr/libexec", "/usr/share/man"):
        assert not list(debian.path(path).rglob("*procession*")), path
    for name in ("passwd", "group", "shadow", "gshadow"):
        assert "procession" not in debian.path(f"/etc/{name}").read_text()
    assert "procession" not in debian.said("dpkg-query", "-W", "-f", "${Package} ${Status}\n")
    assert "procession" not in debian.run("systemctl", "list-unit-files", "--no-legend", "proc*ession*", check=False).stdout
    assert "procession" not in debian.said("systemctl", "list-units", "--type=service,timer", "--state=active,failed", "--no-legend")


def test_the_life_of_the_packages(debian):
    install(debian, "old")
    assert debian.said("dpkg-query", "-W", "-f", "${Version}", "procession-server") == OLDER
    server_runs_as_its_unit_says(debian)
    password = new_login(debian, "web", "StateService")
    assert items(debian, password, "before") == ["before"]
    server_takes_a_reload(debian)
    scheduler_runs_a_job(debian)
    worker_translates_in_its_jail(debian)
    worker_converts_in_its_jail(debian)
    backup_is_made_and_can_be_checked(debian)

    was = debian.said("systemctl", "show", "-P", "MainPID", "processiond")
    install(debian, "new")
    assert debian.said("dpkg-query", "-W", "-f", "${Version}", "procession-server") != OLDER
    assert debian.said("systemctl", "is-active", "processiond") == "active"
    assert debian.said("systemctl", "show", "-P", "MainPID", "processiond") != was, "the new server runs"
    assert "readers = 3" in debian.path("/etc/procession/processiond.ini").read_text(), "what the administrator changed stays"
    assert items(debian, password, "after") == ["after", "before"]

    go_back(debian)
    assert items(debian, password) == ["before"], "what was there when the backup was made"
    install(debian, "new")
    assert items(debian, password, "later") == ["before", "later"]

    debian.run("apt-get", "remove", "-y", *NAMES)
    assert not debian.path("/usr/sbin/processiond").exists() and debian.path(f"{DATA}/StateService.db").exists()
    assert debian.run("systemctl", "is-active", "processiond", check=False).stdout.strip() == "inactive"
    assert debian.path("/etc/procession/processiond.ini").exists()
    install(debian, "new")
    assert items(debian, password) == ["before", "later"], "what was removed and installed again has its data"

    for name in ("web", "scheduler", "worker"):
        debian.path(f"/etc/procession/{name}-password").unlink()
    debian.run("apt-get", "purge", "-y", *NAMES)
    no_trace(debian)
    assert list(debian.path("/var/backups/procession").iterdir()), "backups stay"
