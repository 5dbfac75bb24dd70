"""Large values are read after the commit, beside the writer: a call returns the value of its moment all the same."""
import pathlib

import pytest

from support import store
from support import wire as tds
from support import wiretypes as t
from support.wire import Param, Wire

from statecalls import add, get

SIZE = 2 << 20


def getting(key, proc):
    return [(proc, [Param(t.varchar(key), "@id"), Param(t.varbinary_max(None), "@item", output=True), Param(t.bit(None), "@locked", output=True),
                    Param(t.int_(None), "@lockAgeInSeconds", output=True), Param(t.int_(None), "@lockCookie", output=True)])]


def updating(key, data, cookie):
    return [("proc_UpdateItem", [Param(t.varchar(key), "@id"), Param(t.varbinary_max(data), "@item"), Param(t.int_(20), "@timeout"), Param(t.int_(cookie), "@lockCookie")])]


def names_of_threads(server):
    return {p.read_text(encoding="utf-8").strip() for p in pathlib.Path(f"/proc/{server.process.pid}/task").glob("*/comm")}


@pytest.mark.parametrize("proc", ("proc_GetItemWithLock", "proc_GetItemWithoutLock"))
def test_what_is_changed_right_behind_the_call_is_not_in_its_answer(server, witness, key, proc):
    """An update with the same length follows on another connection, so closely that both are often in one commit."""
    changed = 0
    with Wire(server).login() as reader, Wire(server).login() as writer:
        for i in range(20):
            name, old, new = f"{key}-{i}", b"o" * SIZE, b"n" * SIZE
            add(reader, name, old).ok()
            cookie = get(writer, name).ok().outputs["@lockCookie"] + (proc == "proc_GetItemWithLock")
            update = tds.packets(tds.RPC, tds.rpc_body(updating(name, new, cookie), writer.version))
            writer.send(update[:-1])                    # all but the last byte, so that it runs right behind the other
            reader.send_message(tds.RPC, tds.rpc_body(getting(name, proc), reader.version))
            writer.send(update[-1:])
            answer = reader.answer(tds.RPC).ok()
            writer.answer(tds.RPC)
            later = get(writer, name).ok().outputs
            if proc == "proc_GetItemWithLock":          # before its lock there is no such cookie: the update comes after, or changes nothing
                assert answer.outputs["@item"] == old
            else:
                assert answer.outputs["@item"] in (old, new)
            changed += later["@item"] == new
    assert changed > 0
    # with SQLite a thread of its own reads them, after the commit; PostgreSQL gives them with the answer
    assert store.is_postgres() or any(n.startswith("f-StateService") for n in names_of_threads(server))
