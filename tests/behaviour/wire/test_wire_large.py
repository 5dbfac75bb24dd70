"""The largest value there may be: through a real driver, both ways, compared by digest; and one byte more.

PROCESSION_VALUE_BYTES=999000000 is the default of max_value_size; it takes a minute or two, 3 GB of memory for the server, 4 GB for a PostgreSQL
(STORE=postgres), and 5 GB for the test. Without it 256 MiB.
The plain build is used (PROCESSIOND_PLAIN): a sanitizer makes of this a test of patience.
"""
import hashlib
import os

import pytds
import pytest

from support.calls import open_path
from support.plain import PlainServer

SIZE = int(os.environ.get("PROCESSION_VALUE_BYTES", str(256 << 20)))


@pytest.fixture
def large():
    with PlainServer(settings={"max_value_size": SIZE}) as server:
        yield server


@pytest.fixture
def data():
    """SIZE bytes without a short period, so that a lost or doubled piece is noticed."""
    block = hashlib.shake_256(b"large value").digest((1 << 20) + 7)
    return (block * (SIZE // len(block) + 1))[:SIZE]


def connect(server):
    db = open_path("pytds", server, "StateService")
    db.close()
    db.conn = pytds.connect(dsn=server.host, port=server.port, database="StateService", user="sa", password=server.password, autocommit=True, timeout=300,
                            blocksize=32767)
    db.cur = db.conn.cursor()
    return db


@pytest.mark.slow
def test_the_largest_value_and_one_byte_more(large, data):
    digest = hashlib.sha256(data).digest()
    with connect(large) as db:
        refused = db.call("proc_AddItem", id="more", item=data + b"!", timeout=20)
        assert refused.error == 50005 and f"{SIZE} bytes" in refused.errors[0][2] and "max_value_size" in refused.errors[0][2]
        assert db.batch("SELECT COUNT(*) FROM dbo.Items").rows == [(0,)]        # nothing of it is kept, and the connection goes on
        assert db.call("proc_AddItem", id="large", item=data, timeout=20).status == 0
        del data
        result = db.call("proc_GetItemWithoutLock", id="large")
        assert result.status == 0 and len(result.out["item"]) == SIZE and hashlib.sha256(result.out["item"]).digest() == digest
        assert large.peak_bytes() < 3.5 * SIZE + (300 << 20)
        assert db.call("proc_DeleteItem", id="large", lockCookie=1).error is None
