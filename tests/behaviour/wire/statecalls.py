"""Calls of StateService in the words of the wire client."""
from support import wiretypes as t
from support.wire import Param


def add(w, key, data=b"data", timeout=20):
    return w.rpc("proc_AddItem", [Param(t.varchar(key), "@id"), Param(t.varbinary_max(data) if w.version >> 24 != 0x71 else t.image(data), "@item"), Param(t.int_(timeout), "@timeout")])


def get(w, key, proc="proc_GetItemWithoutLock"):
    item = t.varbinary_max(None) if w.version >> 24 != 0x71 else t.varbinary(None, 8000)
    return w.rpc(proc, [Param(t.varchar(key), "@id"), Param(item, "@item", output=True), Param(t.bit(None), "@locked", output=True),
                        Param(t.int_(None), "@lockAgeInSeconds", output=True), Param(t.int_(None), "@lockCookie", output=True)])


def present(w, key):
    answer = get(w, key).ok()
    return answer.outputs["@locked"] is not None
