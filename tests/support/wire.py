"""A TDS client of our own for tests: it can say anything, and is strict about every byte of the answer.

    with Wire(server).login() as w:
        answer = w.batch("SELECT 1")
        assert answer.rows == [[1]]

The pieces are usable alone: prelogin(), login7(), batch_body(), rpc_body(), packets(), parse().
"""
import socket
import ssl
import struct
import types as pytypes

from support import wiretypes as types
from support.wiretypes import Malformed, Reader, need

# Message types and status bits
BATCH, RPC, RESPONSE, ATTENTION, BULK, TM, LOGIN7, SSPI, PRELOGIN = 0x01, 0x03, 0x04, 0x06, 0x07, 0x0E, 0x10, 0x11, 0x12
EOM, IGNORE, RESET, RESET_SKIPTRAN = 0x01, 0x02, 0x08, 0x10

# Versions as LOGIN7 carries them
V70, V71, V71R1, V72, V73A, V73B, V74, V80 = (0x70000000, 0x71000000, 0x71000001, 0x72090002, 0x730A0003, 0x730B0003, 0x74000004, 0x08000000)
VERSIONS = {"7.1": V71, "7.1r1": V71R1, "7.2": V72, "7.3A": V73A, "7.3B": V73B, "7.4": V74}

ENCRYPT_OFF, ENCRYPT_ON, ENCRYPT_NOT_SUP, ENCRYPT_REQ = 0, 1, 2, 3

DONE, DONEPROC, DONEINPROC = 0xFD, 0xFE, 0xFF
MORE, ERROR, COUNT, ATTN, RPCINBATCH = 0x01, 0x02, 0x10, 0x20, 0x80


class Closed(ConnectionError):
    """The server ended the connection."""


class ServerError(Exception):
    """The first ERROR token of an answer that was expected to succeed."""

    def __init__(self, token):
        super().__init__(f"{token.number} class {token.severity}: {token.text}")
        self.number, self.token = token.number, token


def major(version):
    """71 … 74 for comparisons; 8.0 speaks as 7.4."""
    return 74 if version == V80 else {0x70: 70, 0x71: 71, 0x72: 72, 0x73: 73, 0x74: 74}[version >> 24]


def has_nbcrow(version):
    return version in (V73B, V74, V80)


# Building


def packets(kind, body, size=4096, flags=0, last=EOM, spid=0):
    """The packets of one message. flags go on the first packet, last on the final one."""
    room = size - 8
    parts = [body[i:i + room] for i in range(0, len(body), room)] or [b""]
    out = bytearray()
    for i, part in enumerate(parts):
        status = (flags if i == 0 else 0) | (last if i == len(parts) - 1 else 0)
        out += struct.pack(">BBHHBB", kind, status, len(part) + 8, spid, (i + 1) & 0xFF, 0) + part
    return bytes(out)


def prelogin(encryption=ENCRYPT_NOT_SUP, options=None):
    """Body of PRELOGIN; options replaces the list of (token, data)."""
    if options is None:
        options = [(0, b"\x09\0\0\0\0\0"), (1, bytes([encryption])), (2, b"\0"), (3, b"\1\2\3\4"), (4, b"\0")]
    offset, table, data = 5 * len(options) + 1, b"", b""
    for token, value in options:
        table += struct.pack(">BHH", token, offset + len(data), len(value))
        data += value
    return table + b"\xff" + data


def obfuscate(text):
    return bytes((((b << 4) | (b >> 4)) & 0xFF) ^ 0xA5 for b in text.encode("utf-16-le", "surrogatepass"))


def login7(user="sa", password="", database="", version=V74, packet_size=4096, host="testhost", app="wire", server="server",
           library="wire.py", language="", option1=0xE0, option2=0x03, type_flags=0, option3=0, features=None, sspi=b"", short=None,
           new_password="", length=None, patch=None, lcid=0x409):
    """LOGIN7. short: the 86-byte form (default for 7.1). patch: {offset: bytes} written over the finished message."""
    short = major(version) <= 71 if short is None else short
    fixed = 86 if short else 94
    data = bytearray()
    table = {}

    def put(offset, raw, count):
        table[offset] = struct.pack("<HH", fixed + len(data), count)
        data.extend(raw)

    for offset, text in ((36, host), (40, user)):
        put(offset, text.encode("utf-16-le", "surrogatepass"), len(text.encode("utf-16-le", "surrogatepass")) // 2)
    put(44, obfuscate(password), len(obfuscate(password)) // 2)
    for offset, text in ((48, app), (52, server)):
        put(offset, text.encode("utf-16-le", "surrogatepass"), len(text))
    extension_at = None
    if features is not None:
        extension_at = len(data)
        put(56, b"\0\0\0\0", 4)
        option3 |= 0x10
    else:
        table[56] = struct.pack("<HH", 0, 0)
    for offset, text in ((60, library), (64, language), (68, database)):
        put(offset, text.encode("utf-16-le", "surrogatepass"), len(text))
    put(78, sspi, len(sspi))
    table[82] = struct.pack("<HH", 0, 0)
    if not short:
        put(86, obfuscate(new_password), len(new_password))
        table[90] = struct.pack("<I", 0)
    if features is not None:
        data[extension_at:extension_at + 4] = struct.pack("<I", fixed + len(data))
        for number, value in features:
            data += bytes([number]) + struct.pack("<I", len(value)) + value
        data += b"\xff"
    head = bytearray(fixed)
    total = fixed + len(data) if length is None else length
    struct.pack_into("<IIIIII", head, 0, total, version, packet_size, 0x07000000, 4711, 0)
    struct.pack_into("<BBBBiI", head, 24, option1, option2, type_flags, option3, 0, lcid)
    for offset, raw in table.items():
        head[offset:offset + len(raw)] = raw
    message = head + data
    for offset, raw in (patch or {}).items():
        message[offset:offset + len(raw)] = raw
    return bytes(message)


def all_headers(version, descriptor=0, outstanding=1):
    if major(version) < 72:
        return b""
    return struct.pack("<IIHQI", 22, 18, 2, descriptor, outstanding)


def batch_body(text, version=V74, descriptor=0):
    return all_headers(version, descriptor) + text.encode("utf-16-le", "surrogatepass")


class Param:
    """One RPC parameter. typed is (Type, raw) as the shorthands of wiretypes.py give it."""

    def __init__(self, typed, name="", output=False, default=False, chunk=None, status=None):
        self.type, self.raw = typed
        self.name, self.chunk = name, chunk
        self.status = status if status is not None else (1 if output else 0) | (2 if default else 0)

    def encode(self):
        name = self.name.encode("utf-16-le")
        return bytes([len(name) // 2]) + name + bytes([self.status]) + self.type.encode() + self.type.encode_value(self.raw, self.chunk)


def rpc_one(proc, params, options=0):
    """One RPC without headers: proc is a name or a number."""
    if isinstance(proc, int):
        head = struct.pack("<HH", 0xFFFF, proc)
    else:
        name = proc.encode("utf-16-le")
        head = struct.pack("<H", len(name) // 2) + name
    return head + struct.pack("<H", options) + b"".join(p.encode() for p in params)


def rpc_body(calls, version=V74, descriptor=0, trailing=False):
    """calls: list of (proc, params)."""
    separator = b"\x80" if major(version) < 72 else b"\xff"
    body = separator.join(rpc_one(proc, params) for proc, params in calls)
    return all_headers(version, descriptor) + body + (separator if trailing else b"")


def tm_body(kind, payload, version=V74, descriptor=0):
    return all_headers(version, descriptor) + struct.pack("<H", kind) + payload


def b_name(text):
    raw = text.encode("utf-16-le")
    return bytes([len(raw)]) + raw


# Parsing


def token(kind, **fields):
    return pytypes.SimpleNamespace(kind=kind, **fields)


def parse_message_token(r, code, m):
    length = r.u16()
    start = r.pos
    t = token("error" if code == 0xAA else "info", number=r.i32(), state=r.u8(), severity=r.u8(), text=r.us_varchar(),
              server=r.b_varchar(), procedure=r.b_varchar(), line=r.u32() if m >= 72 else r.u16())
    need(r.pos - start == length, "ERROR/INFO length")
    need((t.severity > 10) == (code == 0xAA), f"class {t.severity} in token 0x{code:02X}")
    need(t.severity != 10, "class 10 goes out as class 0")
    need(t.server != "", "message without server name")
    return t


def parse_envchange(r, m):
    length = r.u16()
    start = r.pos
    kind = r.u8()
    if kind in (1, 2, 3, 4, 5, 6, 13, 19):
        new, old = r.b_varchar(), r.b_varchar()
    else:
        new, old = r.b_varbyte(), r.b_varbyte()
    need(r.pos - start == length, f"ENVCHANGE {kind} length")
    need(kind < 8 or m >= 72, f"ENVCHANGE {kind} below TDS 7.2")
    if kind == 8:
        need(len(new) == 8 and new != b"\0" * 8 and old == b"", "descriptor of ENVCHANGE 8")
    if kind in (9, 10):
        need(len(old) == 8 and new == b"", f"descriptor of ENVCHANGE {kind}")
    if kind == 7:
        need(len(new) == 5 and len(old) in (0, 5), "collation of ENVCHANGE 7")
    return token("envchange", type=kind, new=new, old=old)


def parse_colmetadata(r, m):
    count = r.u16()
    if count == 0xFFFF:
        return token("colmetadata", columns=[])
    columns = []
    for _ in range(count):
        user_type = r.u32() if m >= 72 else r.u16()
        flags = r.u16()
        t = types.read_type(r, m)
        if t.code in types.LOBS:
            if m >= 72:
                for _ in range(r.u8()):
                    r.us_varchar()
            else:
                r.us_varchar()
        if t.code in types.NULLABLE_ONLY:
            need(flags & 1, f"type 0x{t.code:02X} without fNullable: SqlClient loses its place")
        if t.code in types.FIXED:
            need(not flags & 1, f"type 0x{t.code:02X} with fNullable: SqlClient loses its place")
        columns.append(pytypes.SimpleNamespace(user_type=user_type, flags=flags, type=t, name=r.b_varchar()))
    return token("colmetadata", columns=columns)


def parse_row(r, columns, nbc):
    nulls = r.take((len(columns) + 7) // 8) if nbc else b""
    raw, chunks = [], []
    for i, c in enumerate(columns):
        if nbc and nulls[i // 8] >> (i % 8) & 1:
            raw.append(None)
        else:
            raw.append(types.read_value(r, c.type, True, chunks))
    return token("row", raw=raw, chunks=chunks, values=[types.python(c.type, v) for c, v in zip(columns, raw)], nbc=nbc)


def parse_returnvalue(r, m):
    t = token("returnvalue", ordinal=r.u16(), name=r.b_varchar(), status=r.u8(), user_type=r.u32() if m >= 72 else r.u16(), flags=r.u16())
    t.type = types.read_type(r, m)
    need(t.type.code not in types.FIXED, "RETURNVALUE of a fixed type: SqlClient wants the N form")
    t.chunks = []
    t.raw = types.read_value(r, t.type, False, t.chunks)
    t.value = types.python(t.type, t.raw)
    need(t.status == 1, "RETURNVALUE status")
    return t


def parse_loginack(r):
    length = r.u16()
    start = r.pos
    t = token("loginack", interface=r.u8(), version=r.take(4), program=r.b_varchar(), product=r.take(4))
    need(r.pos - start == length and t.interface == 1, "LOGINACK")
    return t


def parse_featureextack(r):
    features = []
    while True:
        number = r.u8()
        if number == 0xFF:
            return token("featureextack", features=features)
        features.append((number, r.take(r.u32())))


def parse(data, version, known=None):
    """All tokens of one message; nothing may be left over. known: the columns of an open cursor."""
    m = major(version)
    r = Reader(data)
    out, columns = [], None
    while r.left():
        code = r.u8()
        if code in (0xAA, 0xAB):
            t = parse_message_token(r, code, m)
        elif code == 0xE3:
            t = parse_envchange(r, m)
        elif code == 0x81:
            if known and r.data[r.pos:r.pos + 2] == b"\xff\xff":        # a fetch whose client knows the columns
                r.u16()
                t, columns = token("colmetadata", columns=known), known
            else:
                t = parse_colmetadata(r, m)
                columns = t.columns
        elif code in (0xD1, 0xD2):
            need(columns, "a row without columns")
            need(code == 0xD1 or has_nbcrow(version), "NBCROW below TDS 7.3B")
            t = parse_row(r, columns, code == 0xD2)
        elif code == 0x79:
            t = token("returnstatus", value=r.i32())
        elif code == 0xAC:
            t = parse_returnvalue(r, m)
        elif code == 0xAD:
            t = parse_loginack(r)
        elif code == 0xAE:
            need(m >= 74, "FEATUREEXTACK below 7.4")
            t = parse_featureextack(r)
        elif code == 0xED:
            t = token("sspi", data=r.take(r.u16()))
        elif code == 0xA5:
            t = token("colinfo", data=r.take(r.u16()))
        elif code == 0xA9:
            t = token("order", data=r.take(r.u16()))
        elif code in (DONE, DONEPROC, DONEINPROC):
            t = token({DONE: "done", DONEPROC: "doneproc", DONEINPROC: "doneinproc"}[code], status=r.u16(), command=r.u16(),
                      count=r.u64() if m >= 72 else r.u32())
            need(t.status & ~0xF7 == 0, f"DONE status 0x{t.status:04X}")
            need(t.status & COUNT or t.count == 0, "a count without the COUNT bit")
            if code != DONEINPROC or not t.status & MORE:
                columns = None
        else:
            raise Malformed(f"unknown token 0x{code:02X} at {r.pos - 1} of {len(data)}: {data[max(0, r.pos - 20):r.pos + 20].hex()}")
        out.append(t)
    return out


def check_order(tokens, request):
    """Rules of wire notes 13.4 and 14 that hold for every answer."""
    dones = [t for t in tokens if t.kind.startswith("done")]
    need(dones and tokens[-1] is dones[-1], "the last token is not a DONE")
    need(not dones[-1].status & MORE, "the last DONE says MORE")
    need(all(t.status & MORE for t in dones[:-1]), "a DONE in the middle without MORE")
    need(not (request == RPC and any(t.kind == "done" and not t.status & ATTN for t in tokens)), "DONE inside the answer to an RPC")
    need(request != RPC or tokens[-1].kind in ("doneproc", "done"), "the answer to an RPC must end in DONEPROC")
    pending = False
    for i, t in enumerate(tokens):
        if t.kind == "error":
            pending = True
        elif t.kind.startswith("done") and t.status & ERROR:
            pending = False
        elif t.kind == "returnvalue":
            need(any(x.kind == "returnstatus" for x in tokens[:i]), "RETURNVALUE before RETURNSTATUS")
        elif t.kind == "row":
            need(tokens[i - 1].kind in ("row", "colmetadata", "colinfo", "order"), f"a row after {tokens[i - 1].kind}")
    need(not pending, "an ERROR that no DONE with the error bit follows: pytds would raise nothing")


class Answer:
    """The tokens of one response message, with views of them."""

    def __init__(self, tokens, raw=b"", packet_sizes=()):
        self.tokens, self.raw, self.packet_sizes = tokens, raw, list(packet_sizes)

    def all(self, kind):
        return [t for t in self.tokens if t.kind == kind]

    @property
    def kinds(self):
        return [t.kind for t in self.tokens]

    @property
    def results(self):
        """Result sets: list of (columns, list of rows of Python values)."""
        sets = []
        for t in self.tokens:
            if t.kind == "colmetadata" and t.columns:
                sets.append((t.columns, []))
            elif t.kind == "row":
                sets[-1][1].append(t.values)
        return sets

    @property
    def rows(self):
        """Rows of the only result set."""
        need(len(self.results) == 1, f"{len(self.results)} result sets: {self.summary()}")
        return self.results[0][1]

    @property
    def value(self):
        need(len(self.rows) == 1 and len(self.rows[0]) == 1, f"not one value: {self.rows}")
        return self.rows[0][0]

    @property
    def columns(self):
        return self.results[0][0]

    @property
    def errors(self):
        return self.all("error")

    @property
    def numbers(self):
        return [t.number for t in self.errors]

    @property
    def infos(self):
        return self.all("info")

    @property
    def status(self):
        found = self.all("returnstatus")
        return found[-1].value if found else None

    @property
    def outputs(self):
        return {t.name or t.ordinal: t.value for t in self.all("returnvalue")}

    @property
    def envchanges(self):
        return [t.type for t in self.all("envchange")]

    @property
    def last(self):
        return self.tokens[-1]

    def summary(self):
        return [(t.kind, getattr(t, "number", getattr(t, "type", hex(getattr(t, "status", 0)) if t.kind.startswith("done") else None)))
                if t.kind != "returnvalue" else (t.kind, t.name) for t in self.tokens]

    def ok(self):
        """Itself, or the first error as an exception."""
        if self.errors:
            raise ServerError(self.errors[0])
        return self


class Wire:
    """One connection. Nothing is sent before a method says so."""

    def __init__(self, server, version=V74, encryption=ENCRYPT_NOT_SUP, strict=False, timeout=20, connect=True, source=None):
        self.server = server
        self.version, self.encryption, self.strict = version, encryption, strict
        self.asked = version
        self.packet_size = 4096
        self.descriptor = 0
        self.database = self.language = None
        self.spid = None
        self.inbuf = b""
        self.tls = None
        self.sock = None
        self.timeout = timeout
        if connect:
            self.sock = socket.create_connection((server.host, server.port), timeout, (source, 0) if source else None)
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()

    def close(self):
        if self.sock is not None:
            self.sock.close()
            self.sock = None

    # bytes

    def send_clear(self, data):
        try:
            self.sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as e:
            raise Closed(str(e)) from None

    def send(self, data):
        if self.tls is None:
            return self.send_clear(data)
        for i in range(0, len(data), 16384):
            self.tls.write(data[i:i + 16384])
        self.send_clear(self.tls_out.read())

    def recv_clear(self):
        try:
            data = self.sock.recv(262144)
        except ConnectionResetError as e:
            raise Closed(str(e)) from None
        if not data:
            raise Closed("end of stream")
        return data

    def recv(self):
        """Some decrypted bytes."""
        if self.tls is None:
            return self.recv_clear()
        while True:
            try:
                data = self.tls.read(262144)
                if not data:
                    raise Closed("TLS close_notify")
                return data
            except ssl.SSLWantReadError:
                self.tls_in.write(self.recv_clear())
            except ssl.SSLZeroReturnError:
                raise Closed("TLS close_notify") from None

    def fill(self, n):
        while len(self.inbuf) < n:
            self.inbuf += self.recv()

    # packets and messages

    def read_packet(self):
        """(type, status, body)"""
        self.fill(8)
        kind, status, length, spid, number, window = struct.unpack(">BBHHBB", self.inbuf[:8])
        need(8 <= length <= self.packet_size, f"packet of {length} bytes, agreed size {self.packet_size}")
        need(window == 0, "packet window")
        need(status & ~EOM == 0, f"packet status 0x{status:02X}")
        self.fill(length)
        body, self.inbuf = self.inbuf[8:length], self.inbuf[length:]
        self.last_packet = pytypes.SimpleNamespace(kind=kind, status=status, length=length, spid=spid, number=number)
        return kind, status, body

    def read_raw_message(self, expect=RESPONSE):
        parts, sizes, numbers = [], [], []
        while True:
            kind, status, body = self.read_packet()
            need(kind == expect, f"packet type 0x{kind:02X}, not 0x{expect:02X}")
            parts.append(body)
            sizes.append(len(body) + 8)
            numbers.append(self.last_packet.number)
            if status & EOM:
                break
            need(len(body) + 8 == self.packet_size, f"a packet of {len(body) + 8} bytes in the middle of a message, agreed {self.packet_size}")
        need(all(b == (a + 1) & 0xFF for a, b in zip(numbers, numbers[1:])), f"packet numbers {numbers[:10]}")
        if self.spid:
            need(self.last_packet.spid == self.spid, "the SPID changed")
        return b"".join(parts), sizes

    def answer(self, request=BATCH, check=True):
        raw, sizes = self.read_raw_message()
        tokens = parse(raw, self.version)
        if check:
            check_order(tokens, request)
        self.follow(tokens)
        return Answer(tokens, raw, sizes)

    def follow(self, tokens):
        """Takes over what ENVCHANGE tells, as a driver does."""
        for t in tokens:
            if t.kind == "envchange":
                if t.type == 1:
                    self.database = t.new
                elif t.type == 2:
                    self.language = t.new
                elif t.type == 8:
                    need(self.descriptor == 0, "a transaction began inside a transaction")
                    self.descriptor = struct.unpack("<Q", t.new)[0]
                elif t.type in (9, 10):
                    need(struct.unpack("<Q", t.old)[0] == self.descriptor != 0, "end of a transaction that was not there")
                    self.descriptor = 0
                elif t.type == 18 and self.descriptor:
                    self.descriptor = 0

    def send_message(self, kind, body, flags=0, last=EOM, size=None):
        self.send(packets(kind, body, size or self.packet_size, flags, last))

    # phases

    def pre(self, body=None):
        """PRELOGIN and its answer: {token: data}."""
        self.send_message(PRELOGIN, prelogin(self.encryption) if body is None else body)
        raw, _ = self.read_raw_message()
        return parse_prelogin(raw)

    def tls_context(self, cafile=None, versions=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if cafile:
            context.load_verify_locations(cafile)
        else:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if versions:
            context.minimum_version, context.maximum_version = versions
        if self.strict:
            context.set_alpn_protocols(["tds/8.0"])
        return context

    def start_tls(self, wrapped=True, context=None, split=None):
        """Handshake inside PRELOGIN packets, or bare (strict). split: at most so many TLS bytes a packet."""
        self.tls_in, self.tls_out = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = (context or self.tls_context()).wrap_bio(self.tls_in, self.tls_out, server_hostname="localhost")
        while True:
            try:
                tls.do_handshake()
                finished = True
            except ssl.SSLWantReadError:
                finished = False
            data = self.tls_out.read()
            if data:
                self.send_clear(packets(PRELOGIN, data, 4096 if split is None else split + 8) if wrapped else data)
            if finished:
                break
            if wrapped:
                raw, _ = self.read_raw_message(PRELOGIN)
                self.tls_in.write(raw)
            else:
                self.tls_in.write(self.recv_clear())
        self.tls = tls

    def hello(self, context=None):
        """Everything before LOGIN7. Gives what PRELOGIN agreed on: 'none', 'login', 'all'."""
        if self.strict:
            self.start_tls(wrapped=False, context=context)
            self.pre()
            return "all"
        options = self.pre()
        answer = options[1][0]
        if answer == ENCRYPT_NOT_SUP or self.encryption == ENCRYPT_NOT_SUP:
            need(answer in (ENCRYPT_NOT_SUP, ENCRYPT_REQ), "answer to ENCRYPT_NOT_SUP")
            return "none"
        self.start_tls(context=context)
        return "login" if answer == ENCRYPT_OFF and self.encryption == ENCRYPT_OFF else "all"

    def login(self, user="sa", password=None, database="StateService", context=None, skip_prelogin=False, **fields):
        """Logs in; errors as ServerError. The answer is kept in login_answer."""
        agreed = "none" if skip_prelogin else self.hello(context)
        password = self.server.password if password is None else password
        body = login7(user=user, password=password, database=database, version=self.asked, **fields)
        if agreed == "login":
            first = packets(LOGIN7, body, 4096)
            self.send(first[:4096])
            self.tls = None
            if first[4096:]:
                self.send_clear(first[4096:])
        else:
            self.send_message(LOGIN7, body)
        return self.finish_login()

    def finish_login(self):
        try:
            self.login_answer = self.answer()
        except Malformed:
            self.close()
            raise
        if self.login_answer.errors:
            self.close()
            raise ServerError(self.login_answer.errors[0])
        for t in self.login_answer.all("envchange"):
            if t.type == 4:
                self.packet_size = int(t.new)
        self.spid = self.last_packet.spid
        return self

    # requests

    def batch(self, text, flags=0, check=True):
        self.send_message(BATCH, batch_body(text, self.version, self.descriptor), flags)
        return self.answer(BATCH, check)

    def rpc(self, proc, params=(), flags=0):
        return self.rpcs([(proc, params)], flags)

    def rpcs(self, calls, flags=0, trailing=False):
        self.send_message(RPC, rpc_body(calls, self.version, self.descriptor, trailing), flags)
        return self.answer(RPC)

    def executesql(self, text, declaration=None, params=(), flags=0):
        head = [Param(types.nvarchar(text) if len(text) <= 4000 else types.ntext(text))]
        if declaration is not None:
            head.append(Param(types.nvarchar(declaration)))
        return self.rpc(10, head + list(params), flags)

    def tm(self, kind, payload=b"", flags=0):
        self.send_message(TM, tm_body(kind, payload, self.version, self.descriptor), flags)
        return self.answer(TM)

    def begin(self, isolation=0, name=""):
        return self.tm(5, bytes([isolation]) + b_name(name))

    def commit(self, again=False, name=""):
        return self.tm(7, b_name(name) + (b"\1\0\0" if again else b"\0"))

    def rollback(self, again=False, name=""):
        return self.tm(8, b_name(name) + (b"\1\0\0" if again else b"\0"))

    def save(self, name):
        return self.tm(9, b_name(name))

    def attention(self):
        self.send(packets(ATTENTION, b"", 8 + 8))

    def acknowledgement(self):
        """Reads one message that must be an attention acknowledgement and nothing else."""
        answer = self.answer(ATTENTION)
        need([t.kind for t in answer.tokens] == ["done"] and answer.last.status == ATTN, f"not an acknowledgement: {answer.summary()}")
        return answer

    def is_closed(self, timeout=5):
        """Waits for the end of the stream; False when the server keeps it open. Bytes that still arrive are thrown away."""
        self.sock.settimeout(timeout)
        try:
            while True:
                if not self.sock.recv(65536):
                    return True
        except ConnectionResetError:
            return True
        except (socket.timeout, TimeoutError):
            return False
        finally:
            self.sock.settimeout(self.timeout)


def parse_prelogin(raw):
    options, pos, first = {}, 0, True
    expect = None
    while raw[pos] != 0xFF:
        kind, offset, length = struct.unpack(">BHH", raw[pos:pos + 5])
        need(not first or kind == 0, "VERSION is not the first option")
        need(offset + length <= len(raw), "PRELOGIN option leaves the message")
        need(expect is None or offset == expect, "PRELOGIN data is not contiguous: jTDS reads it by position")
        expect = offset + length
        options[kind] = raw[offset:offset + length]
        first = False
        pos += 5
    need(expect == len(raw), "bytes after the PRELOGIN data")
    need(len(options[0]) == 6 and options[0][0] >= 11, "VERSION")
    need(len(options[1]) == 1 and list(options)[1] == 1, "ENCRYPTION")
    need(4 in options, "MARS must be answered")
    return options
