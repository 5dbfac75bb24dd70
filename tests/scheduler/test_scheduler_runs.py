"""The last runs, as the scheduler tells them to the server: dbo.Runs, for people who look at the dashboard."""
import pytds

from schedulerprogram import PROFILES, utc, wait_until

ID = "B00AE9A1-0474-474E-B348-F6A8BCC95331"
DL = PROFILES + "DLImportJob"
RUNS = "SELECT DisplayName, Outcome, ExitStatus, DueTime, StartTime, EndTime, Scheduler FROM dbo.Runs WHERE JobId = '{}' ORDER BY RunId DESC"


def runs(server, job=ID):
    with pytds.connect(server.host, "ScheduledJobs", "sa", server.password, port=server.port, autocommit=True, login_timeout=60) as db, db.cursor() as cursor:
        cursor.execute(RUNS.format(job))
        return [tuple(row) for row in cursor.fetchall()]


def test_how_it_ended_is_told_to_the_server(server, scheduler):
    server.add(ID, DL, utc(-1), name="fails")
    with scheduler(handlers={"DLImportJob": "sys.exit(7)"}):
        wait_until(lambda: runs(server)[:1] and runs(server)[0][1:3] == ("failed", 7), explain=lambda: str(runs(server)))
    name, _, _, due, started, ended, who = runs(server)[0]
    assert name == "fails" and due <= started <= ended and who


def test_what_ends_after_the_scheduler_was_asked_to_is_told_too(server, scheduler):
    """Once: the last round is over before the handler ends."""
    server.add(ID, DL, utc(-1), name="once only")
    s = scheduler(handlers={"DLImportJob": "time.sleep(0.5)"}).start("--once")
    assert s.wait() == 0
    assert runs(server)[0][:3] == ("once only", "ok", 0)
