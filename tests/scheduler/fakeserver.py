"""A server of scheduled jobs that a test can look into and make misbehave: speaks just enough TDS for one client library.

It keeps jobs in a dict, has transactions (one at a time, as a whole), and records every call. Switches: `columns` (order and extra ones), `lose_commit` ("before"
or "after" it took effect the connection is cut), `ahead` (seconds that its clock is ahead), `delay` (before an answer).
"""
import copy
import datetime
import socket
import struct
import threading
import time

COLUMNS = ["Assembly", "Class", "JobId", "Recurrence", "JobData", "NextDueTime", "Disabled", "DisplayName"]
DONE, DONEPROC, MORE = 0xFD, 0xFE, 1
NEVER = "9999-12-31T23:59:59.997"


def text(s):
    return s.encode("utf-16-le")


def b_varchar(s):
    return bytes([len(s)]) + text(s)


def done(token=DONE, status=0):
    return struct.pack("<BHHQ", token, status, 0, 0)


def nvarchar(s):
    return b"\xff\xff" if s is None else struct.pack("<H", len(text(s))) + text(s)


def result_set(names, rows):
    out = b"\x81" + struct.pack("<H", len(names))
    for name in names:
        out += struct.pack("<IHBH", 0, 1, 0xE7, 8000) + b"\x09\x04\xd0\x00\x34" + b_varchar(name)
    for row in rows:
        out += b"\xd1" + b"".join(nvarchar(cell) for cell in row)
    return out + done(0xFF, MORE)


def info(message):
    body = struct.pack("<iBB", 50002, 1, 10) + struct.pack("<H", len(message)) + text(message) + b_varchar("fake") + b_varchar("") + struct.pack("<i", 1)
    return b"\xab" + struct.pack("<H", len(body)) + body


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        piece = self.data[self.at:self.at + n]
        assert len(piece) == n
        self.at += n
        return piece

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def chars(self, n):
        return self.take(2 * n).decode("utf-16-le")


def read_value(r):
    kind = r.number("B")
    if kind == 0xE7:
        size = r.number("H")
        r.take(5)
        if size != 0xFFFF:
            n = r.number("H")
            return None if n == 0xFFFF else r.take(n).decode("utf-16-le")
        total, value = r.number("q"), b""
        while total != -1 and (n := r.number("I")) > 0:
            value += r.take(n)
        return None if total == -1 else value.decode("utf-16-le")
    assert kind in (0x68, 0x26), hex(kind)
    r.take(1)
    n = r.number("B")
    return int.from_bytes(r.take(n), "little") if n else None


def parse_rpc(data):
    r = Reader(data)
    r.take(struct.unpack_from("<I", data)[0])
    name = r.chars(r.number("H"))
    r.take(2)
    args = {}
    while r.at < len(data):
        parameter = r.chars(r.number("B"))
        r.take(1)
        args[parameter] = read_value(r)
    return name, args


class FakeServer:
    def __init__(self):
        self.jobs, self.calls, self.lock, self.owner = {}, [], threading.RLock(), threading.Lock()
        self.columns, self.extra = COLUMNS, {}
        self.lose_commit, self.ahead, self.delay, self.refuse_login = None, 0, 0, False
        self.sockets = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    # life

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def accept(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            self.sockets.append(s)
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def cut_all(self):
        for s in self.sockets:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.sockets.clear()

    def close(self):
        self.listener.close()
        self.cut_all()

    def go_away(self):
        # shutdown wakes the thread in accept, which would else keep the listener and take one more connection
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut_all()

    def come_back(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.accept, daemon=True).start()

    # what a test sees

    def names(self):
        with self.lock:
            return [name for name, _, _ in self.calls]

    def of(self, name):
        with self.lock:
            return [args for n, args, _ in self.calls if n == name]

    def add(self, id, class_, due, recurrence=None, data=None, disabled=0, name=None, assembly=None):
        office = "Microsoft.Office.Server, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c"
        with self.lock:
            self.jobs[id] = dict(Assembly=assembly or office, Class=class_, JobId=id, Recurrence=recurrence, JobData=data, NextDueTime=due,
                                 Disabled=str(disabled), DisplayName=name)

    # the wire

    def read_message(self, s):
        data = b""
        while True:
            head = self.read_exactly(s, 8)
            kind, status, length = struct.unpack(">BBH", head[:4])
            data += self.read_exactly(s, length - 8)
            if status & 1:
                return kind, data

    def read_exactly(self, s, n):
        data = b""
        while len(data) < n:
            piece = s.recv(n - len(data))
            if not piece:
                raise ConnectionError
            data += piece
        return data

    def send(self, s, data):
        for at in range(0, len(data), 4000):
            piece = data[at:at + 4000]
            s.sendall(struct.pack(">BBHHBB", 4, int(at + 4000 >= len(data)), len(piece) + 8, 0, 1, 0) + piece)

    def serve(self, s):
        session = dict(undo=None)
        try:
            while True:
                kind, data = self.read_message(s)
                if kind == 0x12:
                    self.send(s, b"\x00\x00\x0b\x00\x06\x01\x00\x11\x00\x01\xff" + bytes(6) + b"\x02")
                elif kind == 0x10:
                    self.record("login", {})
                    body = b"\x01\x74\x00\x00\x04" + b_varchar("fake") + b"\x10\x00\x00\x00"
                    self.send(s, b"\xad" + struct.pack("<H", len(body)) + body + done())
                elif kind == 0x01:
                    self.batch(s, session, data[struct.unpack_from("<I", data)[0]:].decode("utf-16-le"))
                elif kind == 0x03:
                    name, args = parse_rpc(data)
                    self.record(name, args)
                    time.sleep(self.delay)
                    with self.lock:
                        answer = getattr(self, name)(**{k[1:]: v for k, v in args.items()})
                    self.send(s, answer)
                else:
                    self.send(s, done(status=0x20))
        except (ConnectionError, OSError):
            pass
        finally:
            self.roll_back(session)
            s.close()

    def record(self, name, args):
        with self.lock:
            self.calls.append((name, args, time.time()))

    def batch(self, s, session, statement):
        if "BEGIN TRANSACTION" in statement:
            self.owner.acquire()
            session["undo"] = copy.deepcopy(self.jobs)
            self.record("BEGIN", {})
        elif "COMMIT" in statement:
            self.record("COMMIT", {})
            lose, self.lose_commit = self.lose_commit, None
            if lose == "before":
                raise ConnectionError
            session["undo"] = None
            self.owner.release()
            if lose == "after":
                raise ConnectionError
        self.send(s, done())

    def roll_back(self, session):
        if session["undo"] is not None:
            with self.lock:
                self.jobs = session["undo"]
            session["undo"] = None
            self.owner.release()

    # the procedures

    def now(self):
        return datetime.datetime.utcnow() + datetime.timedelta(seconds=self.ahead)

    def rows(self, jobs):
        return result_set(self.columns, [[dict(job, **self.extra).get(c) for c in self.columns] for job in jobs]) + self.status(0)

    def status(self, code, message=None):
        return (info(message) if message else b"") + b"\x79" + struct.pack("<i", code) + done(DONEPROC)

    def proc_MIP_GetScheduledJobsInInterval(self, NextDueTime):
        due = [j for j in self.jobs.values() if j["NextDueTime"] < NextDueTime]
        for job in due:
            if job["Recurrence"] is None:
                del self.jobs[job["JobId"]]
        return self.rows(due)

    def proc_MIP_GetScheduledJobById(self, JobId):
        return self.rows([j for j in self.jobs.values() if j["JobId"] == JobId])

    def proc_MIP_RefreshScheduledJob(self, JobId, NextDueTime):
        if JobId not in self.jobs or NextDueTime <= self.now().isoformat():
            return self.status(1, "refused")
        self.jobs[JobId]["NextDueTime"] = NextDueTime
        return self.status(0)

    def proc_MIP_AddScheduledJob(self, **fields):
        if fields["JobId"] in self.jobs:
            return self.status(1, "exists")
        self.jobs[fields["JobId"]] = dict(fields, Disabled=str(fields["Disabled"]))
        return self.status(0)
