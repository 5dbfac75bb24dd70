"""Data types of the wire: TYPE_INFO and values, both ways, byte for byte ([MS-TDS] 2.2.5.4 to 2.2.5.6)."""
import datetime
import decimal
import struct
import uuid

COLLATION = bytes.fromhex("0904d00034")
MAX = 0xFFFF

FIXED = {0x1F: 0, 0x30: 1, 0x32: 1, 0x34: 2, 0x38: 4, 0x3A: 4, 0x3B: 4, 0x3C: 8, 0x3D: 8, 0x3E: 8, 0x7A: 4, 0x7F: 8}
BYTE_LEN = {0x26: (1, 2, 4, 8), 0x68: (1,), 0x6D: (4, 8), 0x6E: (4, 8), 0x6F: (4, 8), 0x24: (16,)}
DECIMAL = (0x6A, 0x6C)
SCALED = {0x29: (3, 3, 3, 4, 4, 5, 5, 5), 0x2A: (6, 6, 6, 7, 7, 8, 8, 8), 0x2B: (8, 8, 8, 9, 9, 10, 10, 10)}
CHARS = (0xA7, 0xAF, 0xE7, 0xEF)
BINARY = (0xA5, 0xAD)
LOBS = (0x23, 0x63, 0x22)
NULLABLE_ONLY = set(BYTE_LEN) - {0x24}      # must go with fNullable, wire notes 12.2


class Malformed(AssertionError):
    """The server broke the protocol."""


def need(condition, text):
    if not condition:
        raise Malformed(text)


class Reader:
    """Reads a byte string to its end; every read is checked."""

    def __init__(self, data):
        self.data, self.pos = data, 0

    def left(self):
        return len(self.data) - self.pos

    def take(self, n):
        need(0 <= n <= self.left(), f"{n} bytes wanted at {self.pos}, {self.left()} left")
        self.pos += n
        return self.data[self.pos - n:self.pos]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def u8(self):
        return self.number("B")

    def u16(self):
        return self.number("H")

    def u32(self):
        return self.number("I")

    def i32(self):
        return self.number("i")

    def u64(self):
        return self.number("Q")

    def text(self, chars):
        return self.take(2 * chars).decode("utf-16-le", "surrogatepass")

    def b_varchar(self):
        return self.text(self.u8())

    def us_varchar(self):
        return self.text(self.u16())

    def b_varbyte(self):
        return self.take(self.u8())


class Type:
    """TYPE_INFO: code, size, precision, scale, collation."""

    def __init__(self, code, size=0, precision=0, scale=0, collation=COLLATION):
        self.code, self.size, self.precision, self.scale, self.collation = code, size, precision, scale, collation

    def key(self):
        return (self.code, self.size, self.precision, self.scale)

    def __eq__(self, other):
        return self.key() == other.key()

    def __repr__(self):
        return f"Type(0x{self.code:02X}, size={self.size}, precision={self.precision}, scale={self.scale})"

    @property
    def is_plp(self):
        return self.code == 0xF1 or (self.code in CHARS + BINARY and self.size == MAX)

    def encode(self, version72=True, version71=True):
        code = bytes([self.code])
        if self.code in FIXED or self.code == 0x28:
            return code
        if self.code in BYTE_LEN:
            return code + bytes([self.size])
        if self.code in DECIMAL:
            return code + bytes([self.size, self.precision, self.scale])
        if self.code in SCALED:
            return code + bytes([self.scale])
        if self.code in CHARS:
            return code + struct.pack("<H", self.size) + self.collation
        if self.code in BINARY:
            return code + struct.pack("<H", self.size)
        if self.code in LOBS:
            return code + struct.pack("<I", self.size) + (b"" if self.code == 0x22 else self.collation)
        if self.code == 0xF1:
            return code + b"\0"
        if self.code == 0x62:
            return code + struct.pack("<I", self.size)
        raise ValueError(f"type 0x{self.code:02X}")

    def encode_value(self, raw, chunk=None):
        """A value as an RPC parameter carries it; raw None is NULL. chunk: PLP of unknown length in chunks of that size."""
        if self.code == 0x1F:
            return b""
        if self.code in FIXED:
            return raw
        if self.is_plp:
            if raw is None:
                return b"\xff" * 8
            if chunk is None:
                return struct.pack("<Q", len(raw)) + (struct.pack("<I", len(raw)) + raw if raw else b"") + b"\0\0\0\0"
            parts = [struct.pack("<I", len(raw[i:i + chunk])) + raw[i:i + chunk] for i in range(0, len(raw), chunk)]
            return b"\xfe" + b"\xff" * 7 + b"".join(parts) + b"\0\0\0\0"
        if self.code in CHARS + BINARY:
            return b"\xff\xff" if raw is None else struct.pack("<H", len(raw)) + raw
        if self.code in LOBS:
            return b"\xff\xff\xff\xff" if raw is None else struct.pack("<I", len(raw)) + raw
        if self.code == 0x62:
            return struct.pack("<I", 0 if raw is None else len(raw)) + (raw or b"")
        return b"\0" if raw is None else bytes([len(raw)]) + raw


def read_type(r, major):
    """TYPE_INFO of a column or return value. major: 71, 72, 73 … ."""
    code = r.u8()
    if code in FIXED:
        return Type(code, FIXED[code])
    if code in BYTE_LEN:
        size = r.u8()
        need(size in BYTE_LEN[code], f"type 0x{code:02X} with size {size}")
        return Type(code, size)
    if code in DECIMAL:
        size, precision, scale = r.u8(), r.u8(), r.u8()
        need(size in (5, 9, 13, 17) and 1 <= precision <= 38 and scale <= precision, f"decimal({precision},{scale}) in {size} bytes")
        return Type(code, size, precision, scale)
    if code == 0x28 or code in SCALED:
        need(major >= 73, f"type 0x{code:02X} below TDS 7.3")
        if code == 0x28:
            return Type(code, 3)
        scale = r.u8()
        need(scale <= 7, f"scale {scale}")
        return Type(code, SCALED[code][scale], 0, scale)
    if code in CHARS + BINARY:
        size = r.u16()
        need(size != MAX or major >= 72, "a (max) type below TDS 7.2")
        need(size == MAX or 1 <= size <= 8000, f"size {size} of type 0x{code:02X}")
        need(code not in (0xE7, 0xEF) or size == MAX or size % 2 == 0, "odd size of a Unicode type")
        return Type(code, size, collation=r.take(5) if code in CHARS else b"")
    if code in LOBS:
        size = r.u32()
        return Type(code, size, collation=b"" if code == 0x22 else r.take(5))
    if code == 0xF1:
        need(major >= 72, "xml below TDS 7.2")
        need(r.u8() == 0, "xml with a schema collection")
        return Type(code)
    if code == 0x62:
        return Type(code, r.u32())
    raise Malformed(f"unknown type 0x{code:02X}")


def read_plp(r, chunks=None):
    total = r.u64()
    if total == 0xFFFFFFFFFFFFFFFF:
        return None
    parts = []
    while True:
        n = r.u32()
        if n == 0:
            break
        parts.append(r.take(n))
        if chunks is not None:
            chunks.append(n)
    raw = b"".join(parts)
    need(total in (0xFFFFFFFFFFFFFFFE, len(raw)), f"PLP says {total} bytes and has {len(raw)}")
    return raw


def read_value(r, t, in_row=True, chunks=None):
    """The raw bytes of a value, None for NULL, checked against its type."""
    if t.code in FIXED:
        return r.take(t.size)
    if t.is_plp:
        return read_plp(r, chunks)
    if t.code in LOBS and in_row:
        n = r.u8()
        if n == 0:
            return None
        need(n == 16, f"text pointer of {n} bytes")
        r.take(24)
        return r.take(r.u32())
    if t.code in LOBS:
        n = r.u32()
        return None if n == 0xFFFFFFFF else r.take(n)
    if t.code in CHARS + BINARY:
        n = r.u16()
        if n == 0xFFFF:
            return None
        need(n <= t.size, f"value of {n} bytes in a column of {t.size}")
        need(t.code not in (0xE7, 0xEF) or n % 2 == 0, "half a character")
        need(t.code not in (0xAF, 0xEF, 0xAD) or n == t.size, "a fixed-length value that is not padded")
        return r.take(n)
    if t.code == 0x62:
        n = r.u32()
        need(n <= t.size, "sql_variant longer than announced")
        return r.take(n) if n else None
    n = r.u8()
    if n == 0:
        return None
    if t.code in DECIMAL:
        need(n in (5, 9, 13, 17) and n <= t.size, f"decimal of {n} bytes, announced {t.size}")
    else:
        need(n == t.size, f"value of {n} bytes, type 0x{t.code:02X} has {t.size}")
    return r.take(n)


def python(t, raw):
    """The value as a Python object."""
    if raw is None or t.code == 0x1F:
        return None
    if t.code in (0x26, 0x30, 0x34, 0x38, 0x7F):
        return int.from_bytes(raw, "little", signed=len(raw) > 1)
    if t.code in (0x68, 0x32):
        return bool(raw[0])
    if t.code in (0x6D, 0x3B, 0x3E):
        return struct.unpack("<f" if len(raw) == 4 else "<d", raw)[0]
    if t.code in (0x6E, 0x3C, 0x7A):
        n = struct.unpack("<i", raw)[0] if len(raw) == 4 else (struct.unpack("<i", raw[:4])[0] << 32) | struct.unpack("<I", raw[4:])[0]
        return decimal.Decimal(n).scaleb(-4)
    if t.code in DECIMAL:
        return decimal.Decimal(int.from_bytes(raw[1:], "little") * (1 if raw[0] else -1)).scaleb(-t.scale)
    if t.code in (0x6F, 0x3D, 0x3A):
        base = datetime.datetime(1900, 1, 1)
        if len(raw) == 4:
            days, minutes = struct.unpack("<HH", raw)
            return base + datetime.timedelta(days, minutes=minutes)
        days, ticks = struct.unpack("<iI", raw)
        return base + datetime.timedelta(days, milliseconds=(ticks * 10 + 1) // 3)
    if t.code == 0x24:
        return uuid.UUID(bytes_le=raw)
    if t.code in (0xE7, 0xEF, 0x63, 0xF1):
        return raw.decode("utf-16-le", "surrogatepass")
    if t.code in (0xA7, 0xAF, 0x23):
        return raw.decode("cp1252", "replace")
    return raw


# Shorthands for parameters: (Type, raw bytes)

def int_(n, size=4):
    return Type(0x26, size), None if n is None else int(n).to_bytes(size, "little", signed=size > 1)


def bit(n):
    return Type(0x68, 1), None if n is None else bytes([n])


def nvarchar(text, size=None):
    raw = None if text is None else text.encode("utf-16-le", "surrogatepass")
    return Type(0xE7, size if size is not None else min(8000, max(2, len(raw or b"")))), raw


def nvarchar_max(text):
    return Type(0xE7, MAX), None if text is None else text.encode("utf-16-le", "surrogatepass")


def varchar(text, size=None):
    raw = None if text is None else text.encode("cp1252")
    return Type(0xA7, size if size is not None else max(1, len(raw or b""))), raw


def varbinary(raw, size=None):
    return Type(0xA5, size if size is not None else max(1, len(raw or b""))), raw


def varbinary_max(raw):
    return Type(0xA5, MAX), raw


def ntext(text):
    return Type(0x63, 0x7FFFFFFE), None if text is None else text.encode("utf-16-le", "surrogatepass")


def image(raw):
    return Type(0x22, 0x7FFFFFFF), raw
