"""Login: versions, packet sizes, the form of the answer, refusals ([MS-TDS] 2.2.6.4, wire notes 3, 5 and 8)."""
import pytest

from support import wire as tds
from support.wire import ServerError, Wire

ACK = {tds.V71: "07010000", tds.V71R1: "71000001", tds.V72: "72090002", tds.V73A: "730a0003", tds.V73B: "730b0003", tds.V74: "74000004", tds.V80: "08000000"}


@pytest.mark.parametrize("name", tds.VERSIONS)
def test_every_version_logs_in(server, witness, name):
    """The answer names exactly the version asked for, and its tokens come in SQL Server's order."""
    version = tds.VERSIONS[name]
    with Wire(server, version).login() as w:
        a = w.login_answer
        assert a.kinds == ["envchange", "info", "envchange", "envchange", "info", "loginack", "envchange", "done"]
        assert a.envchanges == [1, 7, 2, 4]
        assert [i.number for i in a.infos] == [5701, 5703]
        ack = a.all("loginack")[0]
        assert ack.version.hex() == ACK[version]
        assert ack.program.rstrip("\0") == "Microsoft SQL Server"
        assert ack.product[0] >= 11
        database = a.all("envchange")[0]
        assert (database.new, database.old) == ("StateService", "master")
        assert a.all("envchange")[1].new.hex() == "0904d00034" and a.all("envchange")[1].old == b""
        assert (a.last.status, a.last.count) == (0, 0)
        assert w.spid > 0
        assert w.batch("SELECT 1").value == 1


def test_tds_8_logs_in_strictly(server, witness):
    with Wire(server, tds.V80, strict=True).login() as w:
        assert w.login_answer.all("loginack")[0].version.hex() == ACK[tds.V80]
        assert w.tls.selected_alpn_protocol() == "tds/8.0"
        assert w.batch("SELECT 1").value == 1
    with Wire(server, tds.V74, strict=True).login() as w:
        assert w.login_answer.all("loginack")[0].version.hex() == ACK[tds.V74]


def test_a_version_of_the_future_gets_the_highest(server, witness):
    with Wire(server, tds.V74) as w:
        w.hello()
        w.send_message(tds.LOGIN7, tds.login7(password=server.password, patch={4: bytes.fromhex("05000175")}))
        w.finish_login()
        assert w.login_answer.all("loginack")[0].version.hex() == ACK[tds.V74]


@pytest.mark.parametrize("wanted, agreed", [(0, 4096), (512, 512), (513, 513), (4096, 4096), (8000, 8000), (16384, None), (32767, None), (100, None), (65536, None), (0x7FFFFFFF, None), (0xFFFFFFFF, None)])
def test_packet_size_is_negotiated(server, witness, wanted, agreed):
    """Answers are cut at the size that ENVCHANGE 4 told; requests may have it, too. Sizes out of range are brought into it."""
    with Wire(server).login(packet_size=wanted) as w:
        size = w.packet_size
        assert size == agreed or (agreed is None and 512 <= size <= 32767)
        if wanted in (16384, 32767):
            assert size == wanted
        text = "x" * 30000
        answer = w.batch(f"SELECT '{text[:8000]}', '{text[:8000]}', '{text[:8000]}'")
        assert [len(v) for v in answer.rows[0]] == [8000] * 3
        assert max(answer.packet_sizes) <= size and all(n == size for n in answer.packet_sizes[:-1])


@pytest.mark.parametrize("version", (tds.V71, tds.V71R1, tds.V72, tds.V74))
def test_login_without_prelogin(server, witness, version):
    """jTDS and clients of TDS 7.0 begin with LOGIN7."""
    with Wire(server, version).login(skip_prelogin=True) as w:
        assert w.batch("SELECT 1").value == 1


def test_long_form_with_an_old_version(server, witness):
    """tedious sends the 94-byte form even for 7.1, with fExtension set and no extension."""
    with Wire(server, tds.V71R1).login(short=False, option3=0x18) as w:
        assert w.batch("SELECT 1").value == 1


def test_feature_extensions(server, witness):
    """Only what was asked for is acknowledged; unknown features are skipped."""
    with Wire(server).login(features=[(0x0A, b"\1")]) as w:
        acks = w.login_answer.all("featureextack")
        assert not acks or [f for f, _ in acks[0].features] == [0x0A]
    with Wire(server).login(features=[(0x05, b""), (0x77, b"abc" * 10), (0x04, b"\1"), (0x01, b"")]) as w:
        assert not w.login_answer.all("featureextack")
        assert w.batch("SELECT 1").value == 1
    with Wire(server).login(features=[]) as w:
        assert not w.login_answer.all("featureextack")


@pytest.mark.parametrize("name", tds.VERSIONS)
def test_wrong_password(server, witness, name):
    """18456, class 14, state 1: the reason is for the log only. The widths are those of the version asked for. Then the connection ends."""
    for user, password in (("sa", "wrong"), ("nobody", "x"), ("", ""), ("sa", "")):
        w = Wire(server, tds.VERSIONS[name])
        w.hello()
        w.send_message(tds.LOGIN7, tds.login7(user=user, password=password, version=w.version))
        answer = w.answer()
        assert answer.kinds == ["error", "done"] and answer.last.status == tds.ERROR
        error = answer.errors[0]
        assert (error.number, error.severity, error.state, error.line) == (18456, 14, 1, 1)
        assert error.text == f"Login failed for user '{user}'."
        assert w.is_closed()
        w.close()


@pytest.mark.parametrize("version", (tds.V71R1, tds.V74))
def test_missing_database(server, witness, version):
    """4060, then 18456, then the end."""
    w = Wire(server, version)
    w.hello()
    w.send_message(tds.LOGIN7, tds.login7(password=server.password, database="Nowhere", version=version))
    answer = w.answer()
    assert answer.numbers == [4060, 18456] and answer.kinds[-1] == "done"
    assert "Nowhere" in answer.errors[0].text and answer.errors[0].severity == 11
    assert w.is_closed()
    w.close()


def test_no_database_is_the_default_one(server, witness):
    with Wire(server).login(database="") as w:
        assert w.batch("SELECT DB_NAME()").value == w.database


def test_names_compare_without_case(server, witness):
    with Wire(server).login(user="SA", database="sTATEsERVICE") as w:
        assert w.batch("SELECT DB_NAME()").value == "StateService" and w.database == "StateService"


def test_integrated_security_is_refused_clearly(server, witness):
    w = Wire(server)
    with pytest.raises(ServerError) as e:
        w.login(user="", password="", option2=0x83, sspi=b"NTLMSSP\0\1\0\0\0" + b"\0" * 20)
    assert e.value.number in (18452, 18456)


def test_fields_are_free_text(server, witness):
    """Host, application and library may hold anything: they are logged escaped."""
    start = len(server.log())
    with Wire(server).login(host="h" * 128, app="evil\r\nlevel=error event=forged \"x\" \0 😀", library="\x1b[31m", language="us_english") as w:
        assert w.batch("SELECT 1").value == 1
    assert not [line for line in server.log()[start:].splitlines() if line.startswith("level=error event=forged")]
    assert "\x1b" not in server.log()[start:]


def test_password_with_every_kind_of_character(new_server):
    password = "Pass \"'{};=\\ ünd żółw 😀 %s $(x)"
    server = new_server(password=password)
    with Wire(server).login() as w:
        assert w.batch("SELECT 1").value == 1
    with pytest.raises(ServerError):
        Wire(server).login(password=password + " ")
    assert password not in server.log() and "żółw" not in server.log()


def test_old_tds_is_refused(server, witness):
    """TDS 4.2 and 5.0 (type 2) and versions below 7.0 are told or closed, never left hanging."""
    w = Wire(server)
    w.send(tds.packets(0x02, b"x" * 500, 512))
    assert w.is_closed()
    w.close()
    w = Wire(server)
    w.hello()
    w.send_message(tds.LOGIN7, tds.login7(password=server.password, patch={4: bytes.fromhex("00000060")}))
    assert w.is_closed()
    w.close()


def test_the_server_says_its_version_everywhere_alike(server, witness):
    with Wire(server) as w:
        version = w.pre()[0]
        w.send_message(tds.LOGIN7, tds.login7(password=server.password))
        w.finish_login()
        assert w.login_answer.all("loginack")[0].product == version[:4]
        product = w.batch("SELECT CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128))").value
        assert product.startswith(f"{version[0]}.{version[1]}.{version[2] << 8 | version[3]}")
        assert "Microsoft" in w.batch("SELECT @@VERSION").value and product in w.batch("SELECT @@VERSION").value
