"""The log: its format, slow calls, logins, who changed what, and what a reload takes."""
import json
import re
import signal

import pytds


def open_as(server, user="sa", password=None, database="master"):
    return pytds.connect("127.0.0.1", port=server.port, user=user, password=password or server.password, database=database, autocommit=True, login_timeout=120)


def test_every_line_is_an_object_in_json(new_server):
    server = new_server(settings={"log_format": "json"})
    with open_as(server) as c:
        c.cursor().execute("EXEC procession_login_add 'clerk', 'Secret-12'")
    try:
        open_as(server, 'na"me\\ \u2028\n é')
    except pytds.Error:
        pass
    server.wait_log("login_failed")
    lines = [json.loads(line) for line in server.log().splitlines()]
    assert all(list(line)[:3] == ["time", "level", "event"] for line in lines)
    audit = next(line for line in lines if line["event"] == "audit")
    assert audit["login"] == "sa" and isinstance(audit["session"], int)
    assert audit["arguments"].startswith("@name=clerk ")
    failed = next(line for line in lines if line["event"] == "login_failed")
    assert failed["login"].startswith('na"me\\ ') and failed["login"].endswith("\n é")


def test_changes_are_told_with_who_made_them_and_never_with_a_password(new_server):
    server = new_server()
    with open_as(server) as c, c.cursor() as k:
        k.execute("EXEC procession_login_add 'clerk', 'First-Secret-1'")
        k.execute("EXEC procession_login_passwd 'clerk', 'Second-Secret-2'")
        k.execute("EXEC procession_grant 'clerk', 'StateService', 'execute'")
        k.execute("EXEC procession_database_create 'Second', 'state'")
        k.execute("EXEC procession_database_set 'Second', @commit = 'relaxed'")
        k.execute("EXEC procession_login_disable 'clerk'")
        with open_as(server) as other, other.cursor() as o:
            o.execute("SELECT @@SPID")
            spid = o.fetchall()[0][0]
            k.execute(f"KILL {spid}")
    server.wait_log("action=KILL")
    told = re.findall(r"event=audit session=\d+ peer=\S+ login=sa database=master action=(\S+)", server.log())
    assert told == ["procession_login_add", "procession_login_passwd", "procession_grant", "procession_database_create", "procession_database_set",
                    "procession_login_disable", "KILL"]
    assert 'arguments="@login=clerk @database=StateService @rights=execute"' in server.log()
    assert "Secret" not in server.log() and server.password not in server.log()


def test_what_failed_is_no_change(new_server):
    server = new_server()
    with open_as(server) as c, c.cursor() as k:
        try:
            k.execute("EXEC procession_grant 'nobody', 'StateService', 'execute'")
        except pytds.Error:
            pass
        k.execute("EXEC procession_login_list")
    assert "event=audit" not in server.log()


def test_slow_calls_are_told_from_the_threshold_on(new_server):
    server = new_server(config={"slow_call_ms": 0})
    with open_as(server) as c, c.cursor() as k:
        k.execute("EXEC procession_login_add 'slow0', 'Secret-12'")
        server.write_config(slow_call_ms=1)
        server.signal(signal.SIGHUP)
        server.wait_log("setting=slow_call_ms takes_effect=now")
        k.execute("EXEC procession_login_add 'slow1', 'Secret-12'")     # a password's hash takes long on purpose
        k.execute("EXEC procession_stats")
        counted = {r[0]: r[4] for r in k.fetchall()}
    server.wait_log("event=slow_call")
    told = re.findall(r"event=slow_call session=\d+ login=sa database=master procedure=procession_login_add waited_ms=\d+ ran_ms=\d+ error=0", server.log())
    assert len(told) == 1
    assert counted["procession_slow_calls_total"] >= 1


def test_login_lines_can_be_switched_off_but_not_failures(new_server):
    server = new_server(config={"log_logins": "off"})
    open_as(server).close()
    try:
        open_as(server, password="wrong")
    except pytds.Error:
        pass
    server.wait_log("event=login_failed")
    assert "event=login " not in server.log() and "event=disconnect" not in server.log()


def test_a_reload_says_what_it_took_and_what_needs_a_restart(new_server):
    server = new_server(config={"log_level": "info", "max_connections": 100})
    server.write_config(log_format="json", max_connections=200)
    server.signal(signal.SIGHUP)
    server.wait_log('"setting":"max_connections","takes_effect":"after a restart"')
    assert '"setting":"log_format","takes_effect":"now"' in server.log()
