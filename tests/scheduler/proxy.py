"""A network between a scheduler and a real server: it passes every message on, notes the requests, and can break at a chosen place.

Nothing is answered here: what a client gets comes from the server. Faults: `lose_commit` ("before": the request is lost, "after": its answer), `hold()` and `release()`
(answers stay on the way). `columns` makes of the real server a foreign one whose result sets have their columns in another order, others between them, one missing, or one
in the place of another ("Disabled=DisplayName"): no build of ours gives such an answer, so its bytes are moved on the way.
"""
import contextlib
import select
import socket
import struct
import threading
import time

from support import wire, wiretypes

RPC, BATCH, LOGIN7 = wire.RPC, wire.BATCH, wire.LOGIN7
COLUMNS = ["Assembly", "Class", "JobId", "Recurrence", "JobData", "NextDueTime", "Disabled", "DisplayName"]
V74 = 74


def read_exactly(s, n):
    data = b""
    while len(data) < n:
        piece = s.recv(n - len(data))
        if not piece:
            raise ConnectionError
        data += piece
    return data


def read_message(s):
    """(type, body, the bytes as they came)"""
    raw = body = b""
    while True:
        head = read_exactly(s, 8)
        kind, status, length = struct.unpack(">BBH", head[:4])
        piece = read_exactly(s, length - 8)
        raw, body = raw + head + piece, body + piece
        if status & 1:
            return kind, body, raw


def parse_rpc(body):
    """(procedure, {"@name": value})"""
    r = wiretypes.Reader(body)
    r.take(struct.unpack_from("<I", body)[0])
    name = r.us_varchar()
    r.u16()
    args = {}
    while r.left():
        parameter, _, kind = r.b_varchar(), r.u8(), wiretypes.read_type(r, V74)
        args[parameter] = wiretypes.python(kind, wiretypes.read_value(r, kind, in_row=False))
    return name, args


# --- another order of columns

EXTRA = struct.pack("<IHBH", 0, 1, 0xE7, 40) + wiretypes.COLLATION


def b_varchar(text):
    return bytes([len(text)]) + text.encode("utf-16-le")


def read_columns(r):
    """[(name, type, the bytes before its name)]"""
    columns = []
    for _ in range(r.u16()):
        start = r.pos
        r.take(6)
        kind = wiretypes.read_type(r, V74)
        if kind.code in wiretypes.LOBS:
            for _ in range(r.u8()):
                r.us_varchar()
        described = r.data[start:r.pos]
        columns.append((r.b_varchar(), kind, described))
    return columns


def read_row(r, columns, compact):
    """{name: (is NULL, bytes)}"""
    nulls = r.take((len(columns) + 7) // 8) if compact else b"\0" * len(columns)
    cells = {}
    for i, (name, kind, _) in enumerate(columns):
        if nulls[i // 8] >> (i % 8) & 1:
            cells[name] = (True, b"")
        else:
            start = r.pos
            wiretypes.read_value(r, kind)
            cells[name] = (False, r.data[start:r.pos])
    return cells


def write_row(cells, names, compact):
    extra = (False, struct.pack("<H", 2) + b"x\0")
    chosen = [cells.get(name, extra) for name in names]
    if not compact:
        return b"\xd1" + b"".join(data for _, data in chosen)
    nulls = bytearray((len(names) + 7) // 8)
    for i, (null, _) in enumerate(chosen):
        nulls[i // 8] |= null << (i % 8)
    return b"\xd2" + bytes(nulls) + b"".join(data for _, data in chosen)


def rearrange(body, names):
    """The first result set with these columns; names that it lacks are further columns, "A=B" is column B under the name A."""
    if body[:1] != b"\x81":
        return body
    r = wiretypes.Reader(body)
    r.take(1)
    columns = read_columns(r)
    described = {name: data for name, _, data in columns}
    out = b"\x81" + struct.pack("<H", len(names))
    sources = [name.split("=")[-1] for name in names]
    for name, source in zip(names, sources):
        out += described.get(source, EXTRA) + b_varchar(name.split("=")[0])
    while r.left():
        token = r.u8()
        if token == 0xA9:               # ORDER: by number of column
            r.take(r.u16())
        elif token in (0xD1, 0xD2):
            out += write_row(read_row(r, columns, token == 0xD2), sources, token == 0xD2)
        else:
            return out + body[r.pos - 1:]
    return out


# --- the network


class Proxy:
    def __init__(self, server):
        self.server = server
        self.calls, self.rounds, self.impatient, self.lock = [], 0, 0, threading.Lock()
        self.columns = self.lose_commit = None
        self.open = threading.Event()
        self.open.set()
        self.sockets = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                self.sockets.append(client)
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def close(self):
        self.release()
        self.listener.close()
        for s in self.sockets:
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def hold(self):
        self.open.clear()

    def release(self):
        self.open.set()

    # what a test sees

    def names(self):
        with self.lock:
            return [name for name, _, _ in self.calls]

    def of(self, name):
        """The arguments of each call of this procedure."""
        with self.lock:
            return [args for n, args, _ in self.calls if n == name]

    def times(self, name):
        with self.lock:
            return [at for n, _, at in self.calls if n == name]

    # one connection: requests and answers take turns

    def serve(self, client):
        with contextlib.suppress(OSError, ConnectionError), client, \
                socket.create_connection((self.server.host, self.server.port)) as server:
            while True:
                kind, body, raw = read_message(client)
                name = self.note(kind, body)
                lose = self.take_loss() if name == "COMMIT" else None
                if lose == "before":
                    return
                server.sendall(raw)
                _, body, raw = read_message(server)
                if lose == "after":
                    return
                self.open.wait()
                if select.select([client], [], [], 0)[0]:
                    self.impatient += 1         # it has sent more, or left, before it had its answer
                client.sendall(raw if self.columns is None else wire.packets(wire.RESPONSE, rearrange(body, self.columns)))
                if name == "COMMIT":
                    with self.lock:
                        self.rounds += 1

    def take_loss(self):
        lose, self.lose_commit = self.lose_commit, None
        return lose

    def note(self, kind, body):
        name, args = None, {}
        if kind == LOGIN7:
            name = "login"
        elif kind == RPC:
            name, args = parse_rpc(body)
        elif kind == BATCH:
            statement = body[struct.unpack_from("<I", body)[0]:].decode("utf-16-le")
            name = "BEGIN" if "BEGIN TRANSACTION" in statement else "COMMIT" if "COMMIT" in statement else "ROLLBACK" if "ROLLBACK" in statement else None
        if name:
            with self.lock:
                self.calls.append((name, args, time.time()))
        return name
