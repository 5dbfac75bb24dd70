#!/usr/bin/env python3
"""Writes the seeds of fuzz/corpus: messages as real drivers send them, in the notation of the tests ('text' is UTF-16LE, "text" as it stands).
Run from anywhere; what is there already under other names (findings) stays."""
import pathlib
import re
import struct
import sys

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
TOKEN = re.compile(r"'([^']*)'|\"([^\"]*)\"|([0-9A-Fa-f]{2})|\s+")
COLLATION = "09 04 D0 00 34"
HEADERS = "16 00 00 00 12 00 00 00 02 00 01 00 00 00 00 00 00 00 01 00 00 00"
V70, V71, V71R1, V72, V73A, V73B, V74, V80 = range(8)


def raw(text):
    out, at = bytearray(), 0
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match, text[at:]
        at = match.end()
        if match[1] is not None:
            out += match[1].encode("utf-16-le")
        elif match[2] is not None:
            out += match[2].encode("latin-1")
        elif match[3] is not None:
            out.append(int(match[3], 16))
    return bytes(out)


def write(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def packet(kind, status, body):
    return struct.pack(">BBHHBB", kind, status, 8 + len(body), 0, 1, 0) + body


def login7(version, fixed=94, option3=0, features=None, sspi=b"", **texts):
    head, data = bytearray(fixed), bytearray()
    struct.pack_into("<II", head, 4, version, 4096)
    head[24:28] = bytes((0xE0, 0x83 if sspi else 0x03, 0, option3))

    def field(at, value, units):
        struct.pack_into("<HH", head, at, fixed + len(data), units)
        data.extend(value)

    for at, key in ((36, "host"), (40, "user"), (44, "password"), (48, "app"), (52, "server"), (60, "library"), (64, "language"),
                    (68, "database")):
        value = texts.get(key, "").encode("utf-16-le")
        if key == "password":
            value = bytes(((b << 4 | b >> 4) & 0xFF) ^ 0xA5 for b in value)
        field(at, value, len(value) // 2)
    field(78, sspi, len(sspi))
    if features is not None:
        at = fixed + len(data)
        field(56, struct.pack("<I", at + 4) + features, 4)
    struct.pack_into("<I", head, 0, fixed + len(data))
    if fixed == 86:
        struct.pack_into("<I", head, 82, fixed + len(data))
    return bytes(head + data)


def packets():
    attention = packet(6, 1, b"")
    batch = packet(1, 1, raw(HEADERS + "'select 1'"))
    split = packet(3, 8, b"abc") + packet(3, 0, b"") + packet(3, 1, b"def")
    write("packet", "attention", b"\x00" + attention)
    write("packet", "batch", b"\xff" + batch + attention)
    write("packet", "split", b"\x06" + split + batch)
    write("packet", "ignored", b"\x10" + packet(1, 0, b"ab") + packet(1, 3, b""))
    write("packet", "big", b"\xff" + packet(1, 0, bytes(3000)) + packet(1, 0, bytes(3000)) + packet(1, 1, b"x"))
    write("packet", "mixed", b"\xff" + packet(1, 0, b"ab") + packet(3, 1, b"cd"))


def prelogins():
    write("prelogin", "freetds", raw(
        '00 00 1A 00 06 01 00 20 00 01 02 00 21 00 0C 03 00 2D 00 04 04 00 31 00 01 FF 09 00 00 00 00 00 00 "MSSQLServer" 00 01 02 03 04 00'))
    write("prelogin", "sqlclient", raw(
        "00 00 24 00 06 01 00 2A 00 01 02 00 2B 00 01 03 00 2C 00 04 04 00 30 00 01 05 00 31 00 24 06 00 55 00 01 FF"
        "06 00 00 00 00 00 01 00 01 02 03 04 00" + "11" * 36 + "01"))
    write("prelogin", "jtds", raw("00 00 15 00 06 01 00 1B 00 01 02 00 1C 00 0C 03 00 28 00 04 FF 08 00 01 55 00 00 01"
                                  '"MSSQLServer" 00 00 00 00 00'))
    write("prelogin", "answer", raw("00 00 1A 00 06 01 00 20 00 01 02 00 21 00 01 03 00 22 00 00 04 00 22 00 01 FF 10 00 10 0C 00 00 00 00 00"))
    write("prelogin", "version-only", raw("00 00 06 00 06 FF 0B 00 00 00 00 00"))
    write("prelogin", "outside", raw("00 FF FF 00 06 FF 00 00 00 00 00 00"))


def logins():
    who = dict(host="client", user="sa", password="secret", app="app", server="host,1433", library="lib", language="us_english",
               database="StateService")
    write("login7", "sqlclient", login7(0x74000004, option3=0x10, features=raw("01 00 00 00 00 0A 01 00 00 00 01 05 00 00 00 00 FF"), **who))
    write("login7", "jtds", login7(0x71000001, fixed=86, **who))
    write("login7", "tedious-72", login7(0x72090002, option3=0x18, **who))
    write("login7", "strict", login7(0x08000000, option3=0x10, features=raw("0A 01 00 00 00 01 FF"), **who))
    write("login7", "sspi", login7(0x74000004, sspi=raw('"NTLMSSP" 00 01 00 00 00'), host="client"))
    write("login7", "change-password", login7(0x74000004, option3=0x01, **who))
    write("login7", "fedauth", login7(0x74000004, option3=0x10, features=raw("02 02 00 00 00 05 06 01 04 00 00 00 00 00 00 00 FF"), **who))


def one(version, typed, limit=0xFF):
    return bytes((version, limit)) + raw("01 00 'p' 00 00 02 '@a' 01 " + typed)


VALUES = {
    "int": "38 2A 00 00 00", "intn": "26 04 04 2A 00 00 00", "null": "1F", "bit": "68 01 01 01", "bigint": "26 08 08 01 02 03 04 05 06 07 08",
    "tinyint": "30 07", "smallint": "34 07 00", "float": "6D 08 08 00 00 00 00 00 00 F8 3F", "real": "3B 00 00 C0 BF",
    "money": "6E 08 08 00 00 00 00 10 27 00 00", "smallmoney": "7A 10 27 00 00", "decimal": "6A 11 26 02 05 01 39 30 00 00",
    "numeric": "6C 09 12 00 02 00 7B", "olddecimal": "37 05 09 02 02 01 7B", "guid": "24 10 10" + "AB" * 16,
    "datetime": "6F 08 08 AC 8E 00 00 C0 7A 10 00", "smalldatetime": "3A 01 00 02 00", "date": "28 03 07 24 0B", "time": "29 07 05 00 68 C4 61 08",
    "datetime2": "2A 03 07 80 EE 36 00 07 24 0B", "datetimeoffset": "2B 07 0A 00 68 C4 61 08 07 24 0B 3C 00",
    "varchar": "A7 0A 00 " + COLLATION + " 03 00 61 E9 80", "varchar-utf8": "A7 0A 00 09 04 D0 24 00 02 00 C3 A9",
    "nvarchar": "E7 0A 00 " + COLLATION + " 06 00 'abc'", "nchar": "EF 0A 00 " + COLLATION + " FF FF", "char": "AF 05 00 " + COLLATION + " 02 00 61 62",
    "varbinary": "A5 0A 00 02 00 01 02", "binary": "AD 04 00 02 00 01 02", "oldchar": '2F 05 03 "abc"', "oldvarbinary": "25 05 02 01 02",
    "nvarchar-max": "E7 FF FF " + COLLATION + " FE FF FF FF FF FF FF FF 03 00 00 00 61 00 62 03 00 00 00 00 AC 20 00 00 00 00",
    "varbinary-max": "A5 FF FF 05 00 00 00 00 00 00 00 02 00 00 00 01 02 03 00 00 00 03 04 05 00 00 00 00",
    "varchar-max-null": "A7 FF FF " + COLLATION + " FF FF FF FF FF FF FF FF",
    "xml": "F1 00 FE FF FF FF FF FF FF FF 0A 00 00 00 FF FE '<a/>' 00 00 00 00",
    "xml-schema": "F1 01 01 'd' 03 'dbo' 02 00 'sc' 04 00 00 00 00 00 00 00 04 00 00 00 \"<a/>\" 00 00 00 00",
    "variant-int": "62 49 1F 00 00 06 00 00 00 38 00 2A 00 00 00",
    "variant-text": "62 49 1F 00 00 0D 00 00 00 E7 07 " + COLLATION + " 40 1F 'ab'",
    "variant-decimal": "62 49 1F 00 00 15 00 00 00 6C 02 26 02 01 39 30 00 00" + "00" * 12,
    "tvp": "F3 00 03 'dbo' 02 'tt' 02 00 00 00 00 00 00 00 26 04 00 00 00 00 00 00 00 E7 0A 00 " + COLLATION +
           " 00 10 01 00 01 00 01 00 01 04 01 00 00 00 02 00 'a' 01 00 FF FF 00",
}


def rpcs():
    for name, typed in VALUES.items():
        write("rpc", name, one(V74, typed))
    for name, typed in (("text", '23 FF FF FF 7F ' + COLLATION + ' 03 00 00 00 "abc"'), ("ntext", "63 02 00 00 00 " + COLLATION + " 06 00 00 00 'abc'"),
                        ("image", "22 FF FF FF 7F 02 00 00 00 01 02")):
        write("rpc", name, bytes((V71R1, 0xFF)) + raw("01 00 'p' 00 00 00 00 " + typed))
    write("rpc", "varchar-70", one(V70, '27 05 03 "abc"') + raw('00 00 A7 0A 00 03 00 "abc"'))
    write("rpc", "executesql", bytes((V74, 0xFF)) + raw(
        "FF FF 0A 00 02 00 00 00 E7 40 1F " + COLLATION + " 12 00 'select @a' 00 00 E7 40 1F " + COLLATION + " 0C 00 '@a int' 02 '@a' 00 26 04 04 01 00 00 00"))
    write("rpc", "two-71", bytes((V71R1, 0xFF)) + raw("01 00 'p' 00 00 00 00 38 01 00 00 00 80 01 00 'q' 00 00 80"))
    write("rpc", "two-72", bytes((V72, 0xFF)) + raw("01 00 'p' 00 00 00 00 38 01 00 00 00 FE 01 00 'q' 00 00 FF"))
    write("rpc", "limit", one(V74, VALUES["varbinary-max"], limit=0))


def headers_tm():
    for name, version, body in (
            ("begin", V74, HEADERS + "05 00 02 00"), ("commit-begin", V72, HEADERS + "07 00 00 01 00 00"),
            ("rollback-save", V74, HEADERS + "08 00 04 's1' 01 03 02 'n'"), ("save", V73B, HEADERS + "09 00 04 'sp'"),
            ("dtc", V74, HEADERS + "00 00 00 00"), ("batch", V74, HEADERS + "'select 1' 3D D8 00 DE 00 D8"), ("batch-71", V71, "'select 1'"),
            ("trace", V80, "30 00 00 00 1A 00 00 00 03 00" + "07" * 16 + "01 00 00 00 12 00 00 00 02 00 01 00 00 00 00 00 00 00 01 00 00 00 '1'"),
            ("missing", V74, "04 00 00 00")):
        write("headers_tm", name, bytes((version,)) + raw(body))


def legs(*tokens):
    return b"".join(struct.pack("<H", len(token)) + token for token in tokens)


def sspis():
    """Negotiate and authenticate messages of the drivers (the answers fit no challenge), SPNEGO around them, a Kerberos frame."""
    freetds1 = raw('"NTLMSSP" 00 01 00 00 00 01 B2 08 00 04 00 04 00 2A 00 00 00 02 00 02 00 28 00 00 00 05 01 28 0A 00 00 00 0F "vmCORP"')
    jtds1 = raw('"NTLMSSP" 00 01 00 00 00 05 B2 08 00 04 00 04 00 20 00 00 00 00 00 00 00 20 00 00 00 "CORP"')
    tedious1 = raw('"NTLMSSP" 00 01 00 00 00 07 92 08 A2 04 00 04 00 28 00 00 00 00 00 00 00 28 00 00 00 05 00 93 08 00 00 00 0F "CORP"')
    tail = "'CORP' 'bob'" + "87" * 24 + "79" * 16 + "01 01" + "00" * 14 + "0B" * 8 + "00 00 00 00 01 00 04 00 'VM' 02 00 04 00 'WS' 07 00 08 00" + "11" * 8 + "00" * 8

    def type3(answer, flags):
        head = '"NTLMSSP" 00 03 00 00 00 18 00 18 00 4E 00 00 00 %s %s 66 00 00 00 08 00 08 00 40 00 00 00 06 00 06 00 48 00 00 00' % (answer, answer)
        return raw(head + "00 00 00 00 4E 00 00 00 00 00 00 00 4E 00 00 00" + flags + tail)
    write("sspi", "freetds", legs(freetds1, type3("50 00", "05 B2 8A 02")))
    write("sspi", "jtds", legs(jtds1, type3("50 00", "01 82 08 00")))
    write("sspi", "tedious", legs(tedious1, type3("10 00", "01 82 08 00")))
    write("sspi", "ntlmv1", legs(tedious1, type3("18 00", "01 82 08 00")))
    mech = raw("06 0A 2B 06 01 04 01 82 37 02 02 0A")
    offer = raw("A0 0E 30 0C") + mech
    inner = raw("A2 2A 04 28") + tedious1[:40]
    body = raw("06 06 2B 06 01 05 05 02 A0") + bytes((2 + len(offer) + len(inner), 0x30, len(offer) + len(inner))) + offer + inner
    spnego = b"\x60" + bytes((len(body),)) + body
    write("sspi", "spnego", legs(spnego, raw("A1 81 C0 30 81 BD A2 81 BA 04 81 B7") + type3("50 00", "05 B2 8A 02")))
    write("sspi", "spnego-without-token", legs(raw("60 1A 06 06 2B 06 01 05 05 02 A0 10 30 0E A0 0C 30 0A 06 08 2B 06 01 04 01 82 37 02"), raw("A1 05 30 03 A0 03 0A")))
    write("sspi", "kerberos", legs(raw("60 82 00 40 06 09 2A 86 48 86 F7 12 01 02 02 01 00 6E") + bytes(40)))
    write("sspi", "negotiate-for-ever", legs(*[tedious1] * 12))


def xmls():
    """BYTE flags (1: bytes with their own declaration, 2: stopped after sixteen times the upper half's number of bytes), then the document."""
    item = '<item job="1" group="2" id="3" wsi="b00ae9a1-0474-474e-b348-f6a8bcc95331" in="a&lt;&#x20AC;"/>'
    good = f'<batch xmlns="urn:x"><start>{item}</start><failed/></batch>'
    xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    for name, flags, text in (
            ("good", 0, good), ("stopped", 2, good), ("stopped-later", 0x12, good), ("declared", 1, '<?xml version="1.0" encoding="windows-1252"?>' + good),
            ("utf16-declared", 0, '<?xml version="1.0" encoding="utf-16"?>' + good), ("mark", 0, "\ufeff" + good), ("two-marks", 0, "\ufeff\ufeff" + good),
            ("hints", 0, good.replace("<start", f'<start {xsi} xsi:schemaLocation="a b"')), ("nil", 0, good.replace("<start", f'<start {xsi} xsi:nil="true"')),
            ("prefix", 0, good.replace("xmlns=", "xmlns:p=").replace("<", "<p:").replace("<p:/", "</p:")),
            ("around", 0, "<!-- ' -->\n<?p \"?> " + good.replace("<failed/>", "<failed><!-- <a b='c'> --> </failed>") + "<?end?>"),
            ("cdata", 0, good.replace("<failed/>", "<failed><![CDATA[ <x y='z'> ]]></failed>")), ("dtd", 0, "<!DOCTYPE a [<!ENTITY b 'c'>]>" + good),
            ("deep", 0, '<batch xmlns="urn:x">' + "<a>" * 70 + "</a>" * 70 + "</batch>"), ("deep-and-open", 0, "<a>" * 66),
            ("many-attributes", 0, "<batch " + " ".join(f"a{i}='>'" for i in range(66)) + "/>"), ("twice", 0, good.replace('id="3"', 'job="3"')),
            ("nul", 0, good.replace("a&lt;", "a\0b")), ("nul-first", 1, "<\0?\0"), ("unfinished", 0, good[:60]), ("entity", 0, "<batch>&none;</batch>"), ("two", 0, good + good)):
        write("xml", name, bytes((flags,)) + text.encode())
    write("xml", "ebcdic", b"\1\x4c\x6f\xa7\x94")


def wal(frames, magic=0x377F0682, page=512):
    """A write-ahead log; frames: (page number, size of the database after a commit, or 0)."""
    order = ">" if magic & 1 else "<"
    sums = [0, 0]

    def add(data):
        for x, y in struct.iter_unpack(order + "II", data):
            sums[0] = (sums[0] + x + sums[1]) & 0xFFFFFFFF
            sums[1] = (sums[1] + y + sums[0]) & 0xFFFFFFFF
        return struct.pack(">II", *sums)

    head = struct.pack(">IIIIII", magic, 3007000, page, 0, 0x01020304, 0x05060708)
    out = head + add(head)
    for number, size in frames:
        start, body = struct.pack(">II", number, size), bytes((number,)) * page
        out += start + head[16:24] + add(start + body) + body
    return out


def logs():
    commits = [(1, 0), (2, 2), (3, 3), (2, 0), (4, 4)]
    write("walscan", "commits", wal(commits))
    write("walscan", "big-endian", wal(commits, magic=0x377F0683))
    write("walscan", "zeros-behind", wal(commits) + bytes(1100))
    write("walscan", "no-commit", wal(commits[:1]))
    write("walscan", "header", wal([]))
    whole = bytearray(wal(commits))
    write("walscan", "torn", bytes(whole[:-100]))
    whole[32 + 2 * 536 + 30] ^= 4
    write("walscan", "damaged", bytes(whole))
    write("walscan", "page-size", wal([], page=1000))


def columns():
    """Which type of PostgreSQL, which of ours (places in lists of fuzz_postgres.c), the value."""
    numeric = struct.pack(">hhHHHH", 2, 0, 0x4000, 2, 12, 5000)
    for name, theirs, ours, value in (
            ("bigint", 3, 4, struct.pack(">q", -2)), ("bigint-date", 3, 23, struct.pack(">q", 693595)), ("int4-bit", 5, 1, struct.pack(">i", 7)),
            ("bool", 0, 1, b"\1"), ("float", 9, 11, struct.pack(">d", 1.5)), ("float4-decimal", 8, 6, struct.pack(">f", 1.5)),
            ("numeric", 13, 6, numeric), ("numeric-float", 13, 11, numeric), ("numeric-long", 13, 6, struct.pack(">hhHH", 20, 19, 0, 5) + b"\x27\x0f" * 20),
            ("numeric-fine", 13, 6, struct.pack(">hhHHH", 1, 0, 0, 16383, 1)), ("numeric-text", 13, 16, numeric),
            ("text", 6, 16, b"a \xf4\x8f\x9f\xbf \xf4\x8f\xa0\x80 \xf4\x8f\x9f\xbe\xf4\x8f\xbf\xbf"), ("text-cut", 6, 16, b"\xf4\x8f\x9f\xbe"),
            ("offset", 6, 28, b"2008-01-31 01:01:01.0000000Z+060"), ("offset-no-date", 6, 28, b"2008-02-31 01:01:01.0000000Z-900"),
            ("decimal-text", 6, 6, b"-12.50"), ("guid", 1, 22, bytes(range(16))), ("variant", 3, 29, struct.pack(">q", 1 << 40)),
            ("datetime", 3, 26, struct.pack(">q", 1 << 62))):
        write("postgres", name, bytes((theirs, ours)) + value)


def conninfos():
    for name, text in (
            ("one", "host=pg1 dbname=procession user=procession passfile=/etc/procession/pgpass sslmode=verify-full"),
            ("several", "host=pg1,pg2,pg3 port=5432,,5434 connect_timeout=7"), ("url", "postgresql://procession@pg1:1,pg2:2/procession?sslmode=require"),
            ("addresses", "hostaddr=127.0.0.1,10.0.0.2 port=1"), ("empty-places", "host=,,a hostaddr=127.0.0.1, port=,"), ("none", ""),
            ("quoted", "host='a b' password='it\\'s'"), ("cut", "host='a"), ("no-equals", "host"), ("many", "hostaddr=" + "127.0.0.1," * 40)):
        write("conninfo", name, text.encode())


def conversions():
    sys.path.insert(0, str(CORPUS.parents[1] / "tests"))
    from support import documents as made

    def job(name, inner):
        write("convert_settings", name, b"out.pdf\n<ConversionJobSettings>" + inner.encode() + b"</ConversionJobSettings>")

    job("all", "<OutputFormat>PDF</OutputFormat><OutputSaveBehavior>AlwaysOverwrite</OutputSaveBehavior><UpdateFields>true</UpdateFields>"
               "<RevisionState>Final</RevisionState><MarkupView>Comments Text Formatting</MarkupView><DefaultLanguage>de-DE</DefaultLanguage>"
               "<FixedFormatSettings><UsePDFA>true</UsePDFA><PageRange>1,3-5</PageRange><Bookmarks>Headings</Bookmarks>"
               "<OutputQuality>Minimum</OutputQuality></FixedFormatSettings>")
    job("refused", "<AddThumbnail>true</AddThumbnail>")
    job("namespace", '<x:OutputFormat xmlns:x="urn:x"><![CDATA[RTF]]></x:OutputFormat><!-- a remark -->')
    write("convert_settings", "empty", b"a.docx\n")
    write("convert_settings", "dtd", b"a.docx\n<!DOCTYPE a [<!ENTITY x 'PDF'>]><settings><OutputFormat>&x;</OutputFormat></settings>")
    languages = "<SourceLanguage>en</SourceLanguage><TargetLanguage>pt-BR</TargetLanguage>"
    for name, text in {
        "elements": f"<settings>{languages}<OutputSaveBehavior> AlwaysOverwrite </OutputSaveBehavior></settings>",
        "attributes": '<s SourceLanguage="eng" TargetLanguage="ca_valencia" OutputSaveBehavior="AppendIfPossible"/>',
        "deep": "<a><b:c xmlns:b='urn:x'><b:OutputSaveBehavior><![CDATA[AlwaysOverwrite]]></b:OutputSaveBehavior></b:c></a>",
        "never": f"<settings>{languages}<OutputSaveBehavior>NeverOverwrite</OutputSaveBehavior></settings>",
        "unfinished": "<s OutputSaveBehavior='AlwaysOverwrite'>",
        "dtd": "<!DOCTYPE s [<!ENTITY e 'AlwaysOverwrite'>]><s OutputSaveBehavior='&e;'/>",
        "dtd-unused": "<!DOCTYPE s [<!ENTITY e 'x'>]><s OutputSaveBehavior='AlwaysOverwrite'/>",
        "entities": "<!DOCTYPE s [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;&b;'>]><s OutputSaveBehavior='&c;'>&c;</s>",
        "no-language": "<settings><TargetLanguage>../../etc</TargetLanguage></settings>", "unknown": "<settings><Other/></settings>",
        "utf-16": "\ufeff<s SourceLanguage='en' TargetLanguage='es'/>",
    }.items():
        write("job_settings", name, text.encode("utf-16-le" if name == "utf-16" else "utf-8"))
    for name, content in {
        "a.docx": made.docx(made.paragraph("text")), "b.docx": made.docx("", "dotm"), "c.xlsx": made.docx("", "xlsx"),
        "a.odt": made.odt("<text:p>text</text:p>"), "b.odt": made.odt("", manifest_extra=made.ENCRYPTED_ENTRY),
        "a.doc": made.compound({"WordDocument": b"\xEC\xA5\xC1\0"}), "b.doc": made.compound({"EncryptionInfo": b"", "EncryptedPackage": b""}),
        "a.rtf": b"{\\rtf1 text}", "a.html": b"<!DOCTYPE html><html></html>", "a.txt": b"text", "b.txt": b"\xff\xfet\0",
        "a.xml": b'<?xml version="1.0"?><w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml"/>',
        "a.pdf": b"%PDF-1.4", "a.mht": b"MIME-Version: 1.0\nContent-Type: multipart/related\n",
    }.items():
        write("convert_sniff", name, name.encode() + b"\n" + content)


if __name__ == "__main__":
    columns()
    conninfos()
    conversions()
    xmls()
    logs()
    sspis()
    packets()
    prelogins()
    logins()
    rpcs()
    headers_tm()
