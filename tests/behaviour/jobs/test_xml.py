"""The two XML documents: what is accepted, what is refused, and that a refused one changes nothing."""
import contextlib
import os
import select
import signal
import socket
import time

import pytest

from support import wire as tds
from support import wiretypes as t
from support.jobs import FAR, SPACES, WORKER, jobs_fixture
from support.proves import proves
from support.store import sqlite_only
from support.server import is_sanitized
from support.wire import Param, Wire

WRONG_MODEL = (6908, 6923, 6965)
NO_DOCUMENT = {6901, *range(9400, 9500)}
START = f'<item job="1" group="1" id="1" wsi="{WORKER}"/>'
FAILED = '<item job="1" group="1" id="2" error="5"/>'
ITEM = '<item id="1" in="a" out="b"/>'

big = jobs_fixture(among=(("word", "corrected", "pytds-rpc"), ("translation", "literal", "pytds-batch")))


def batch(db, start="", failed="", inside=None, root="batch", space=None):
    space = SPACES[db.service] + "databaseBatchUpdate" if space is None else space
    inside = f"<start>{start}</start><failed>{failed}</failed>" if inside is None else inside
    return f'<{root} xmlns="{space}">{inside}</{root}>'


def group(db, inside=ITEM, root="group", space=None):
    space = SPACES[db.service] + "databaseJobAdd" if space is None else space
    return f'<{root} xmlns="{space}">{inside}</{root}>'


def refuses_batch(db, number, document):
    db.new_job(1, items=(1, 2))
    return db.refuses(number, "proc_UpdateConversionBatch", BatchXml=document)


def refuses_group(db, number, document):
    db.add_job(1)
    error = db.refuses(number, "proc_AddGroup", **db.group_args(1, JobXml=document))
    assert db.groups(1) == []
    return error


# Names and prefixes


@proves("WORD-Xml-01", "TRAN-Xml-01", "WORD-UpdateConversionBatch-03", "TRAN-UpdateConversionBatch-03")
@pytest.mark.parametrize("space", ("", "urn:other", "other service", "other document", "letter case"))
def test_a_batch_has_its_namespace(few, space):
    db = few
    other = SPACES["translation" if db.word else "word"] + "databaseBatchUpdate"
    space = {"other service": other, "other document": SPACES[db.service] + "databaseJobAdd", "letter case": (SPACES[db.service] + "databasebatchupdate")}.get(space, space)
    error = refuses_batch(db, 6913, batch(db, START, space=space))
    assert f'The root must be <batch xmlns="{SPACES[db.service]}databaseBatchUpdate">.' in error.text
    assert len(db.ok("proc_UpdateConversionBatch", BatchXml=batch(db, START)).rows) == 1


@proves("WORD-Xml-02", "TRAN-Xml-02", "WORD-AddGroup-07", "TRAN-AddGroup-06")
@pytest.mark.parametrize("space", ("", "urn:other", "other service", "other document"))
def test_a_group_has_its_namespace(few, space):
    db = few
    other = SPACES["translation" if db.word else "word"] + "databaseJobAdd"
    space = {"other service": other, "other document": SPACES[db.service] + "databaseBatchUpdate"}.get(space, space)
    error = refuses_group(db, 6913, group(db, space=space))
    assert f'The root must be <group xmlns="{SPACES[db.service]}databaseJobAdd">.' in error.text
    db.add_group(1, JobXml=group(db))


@proves("WORD-Xml-03", "TRAN-Xml-03")
def test_the_prefix_is_free(few):
    db = few
    space = SPACES[db.service]
    db.new_job(1, items=(1, 2))
    db.add_group(1, 2, JobXml=f'<x:group xmlns:x="{space}databaseJobAdd"><x:item id="1" in="a" out="b"/></x:group>')
    db.add_group(1, 3, JobXml=f'<group xmlns="{space}databaseJobAdd"><y:item xmlns:y="{space}databaseJobAdd" id="1" in="a" out="b"/></group>')
    assert [tuple(i) for i in db.items(1, 2)] == [tuple(i) for i in db.items(1, 3)] == [(1, None, None, None, "a", "b")]
    db.ok("proc_UpdateConversionBatch", BatchXml=f'<n:batch xmlns:n="{space}databaseBatchUpdate"><n:start><n:item job="1" group="1" id="1" wsi="{WORKER}"/></n:start><n:failed/></n:batch>')
    assert db.item(1).StartTime is not None and db.item(2).StartTime is None


# Content


@proves("WORD-Xml-04", "TRAN-Xml-04", "WORD-UpdateConversionBatch-03", "TRAN-UpdateConversionBatch-03", "WORD-Input-02", "TRAN-Input-02")
@pytest.mark.parametrize("inside", (
    "", "<start/>", "<failed/>", "<failed/><start/>", "<start/><start/><failed/>", "<start/><failed/><failed/>", f"<start>{START}</start><failed/><start/>",
    f"<start>{START}</start><failed/><more/>", f"<more/><start>{START}</start><failed/>", START, "<start><start/></start><failed/>"))
def test_a_batch_is_start_then_failed(few, inside):
    db = few
    refuses_batch(db, WRONG_MODEL, batch(db, inside=inside))


@proves("WORD-Xml-04", "TRAN-Xml-04", "WORD-Xml-13", "TRAN-Xml-13")
@pytest.mark.parametrize("root", ("Batch", "batches", "start", "group"))
def test_roots_have_their_names(few, root):
    db = few
    refuses_batch(db, 6913, batch(db, START, root=root))
    wrong = {"Batch": "Group", "batches": "groups", "start": "item", "group": "batch"}[root]
    db.refuses(6913, "proc_AddGroup", **db.group_args(1, 2, JobXml=group(db, root=wrong)))


@proves("WORD-Xml-05", "TRAN-Xml-05")
@pytest.mark.parametrize("n", (0, 1, 1000))
def test_start_holds_any_number_of_items(few, n):
    db = few
    db.new_job(1, items=range(1, 1001))
    assert len(db.report(start=[(1, 1, i) for i in range(1, n + 1)])) == min(n, 1)
    assert db.counts().get("InProgress", 0) == n


@proves("WORD-Xml-06", "TRAN-Xml-06")
@pytest.mark.parametrize("n", (0, 1, 1000))
def test_failed_holds_any_number_of_items(few, n):
    db = few
    db.new_job(1, items=range(1, 1001))
    db.report(start=[(1, 1, i) for i in range(1, 1001)])
    assert len(db.report(failed=[(1, 1, i, i) for i in range(1, n + 1)])) == min(n, 1)
    assert db.counts().get("Failed", 0) == n


BAD = {"job": ("", "x", "1.5", "9223372036854775808", "-9223372036854775809", "1 2"), "group": ("", "32768", "-32769", "0x1"), "id": ("", "2147483648", "-2147483649", "one"),
       "error": ("", "2147483648", "1e3"), "wsi": ("", "b00ae9a1")}


@proves("WORD-Xml-07", "TRAN-Xml-07", "WORD-UpdateConversionBatch-03", "TRAN-UpdateConversionBatch-03")
@pytest.mark.parametrize("name", ("job", "group", "id", "wsi"))
def test_attributes_of_start(few, name):
    db = few
    attributes_of(db, name, {"job": "1", "group": "1", "id": "1", "wsi": str(WORKER)}, "start")


@proves("WORD-Xml-08", "TRAN-Xml-08", "WORD-UpdateConversionBatch-03", "TRAN-UpdateConversionBatch-03")
@pytest.mark.parametrize("name", ("job", "group", "id", "error"))
def test_attributes_of_failed(few, name):
    db = few
    attributes_of(db, name, {"job": "1", "group": "1", "id": "2", "error": "5"}, "failed")


def attributes_of(db, name, values, section):
    """The other section has a good item, which must not be touched either."""
    db.new_job(1, items=(1, 2))
    other = {"start": {"failed": FAILED}, "failed": {"start": START}}[section]

    def document(given):
        return batch(db, **{section: "<item " + " ".join(f'{k}="{v}"' for k, v in given.items()) + "/>"}, **other)
    db.refuses(6906, "proc_UpdateConversionBatch", BatchXml=document({k: v for k, v in values.items() if k != name}))
    for bad in BAD[name]:
        db.refuses(6926, "proc_UpdateConversionBatch", BatchXml=document({**values, name: bad}))


@proves("WORD-Xml-07", "TRAN-Xml-07", "WORD-Xml-08", "TRAN-Xml-08")
def test_numbers_are_those_of_xml_schema(few):
    """White space around, signs and leading zeros are allowed, as are the ends of the ranges."""
    db = few
    db.new_job(1, items=(1, 2))
    db.ok("proc_UpdateConversionBatch", BatchXml=batch(db, f'<item job=" +01 " group="\n1" id="001" wsi="{WORKER}"/>', '<item job="1" group="+1" id=" 2 " error="-0007"/>'))
    assert db.item(1).StartTime is not None and db.item(2).ErrorCode == -7
    edges = (-2**63, -2**15, -2**31), (2**63 - 1, 2**15 - 1, 2**31 - 1)
    assert db.report(start=edges, failed=[(*key, key[2]) for key in edges]) == []
    for job, number, item in edges:
        db.add_job(job)
        db.add_group(job, number, items=(item,))
    assert [(r.JobId, r.GroupId) for r in db.report(start=edges, failed=[(*key, key[2]) for key in edges])] == [key[:2] for key in edges]
    assert [(r.ItemId, r.StartTime is not None, r.ErrorCode) for key in edges for r in db.items(*key[:2])] == [(key[2], True, key[2]) for key in edges]


@proves("WORD-Xml-09", "TRAN-Xml-09")
@pytest.mark.parametrize("guid, good", (
    ("b00ae9a1-0474-474e-b348-f6a8bcc95331", True), ("B00AE9A1-0474-474E-B348-F6A8BCC95331", True), ("B00ae9A1-0474-474e-b348-f6a8bcc95331", True),
    ("{b00ae9a1-0474-474e-b348-f6a8bcc95331}", False), ("b00ae9a10474474eb348f6a8bcc95331", False), ("b00ae9a1-0474-474e-b348-f6a8bcc9533", False),
    ("b00ae9a1-0474-474e-b348-f6a8bcc953311", False), ("g00ae9a1-0474-474e-b348-f6a8bcc95331", False), ("b00ae9a1-0474-474e-b348-f6a8bcc9533\u0661", False),
    ("b00ae9a1-04744-74e-b348-f6a8bcc95331", False)))
def test_how_a_guid_is_written(few, guid, good):
    db = few
    document = batch(db, f'<item job="1" group="1" id="1" wsi="{guid}"/>')
    if good:
        db.new_job(1, items=(1, 2))
        db.ok("proc_UpdateConversionBatch", BatchXml=document)
        assert db.handed(threshold=FAR)[0].WorkerServerInstance == WORKER
    else:
        refuses_batch(db, 6926, document)


@proves("WORD-Xml-10", "TRAN-Xml-10")
@pytest.mark.parametrize("number, start", (
    (6905, START.replace("/>", ' more="1"/>')), (6905, START.replace("/>", ' Job="1"/>')), (6905, START.replace("/>", ' xml:lang="en"/>')),
    (6905, START.replace("<item ", '<item xmlns:p="urn:p" p:job="1" ')), (6905, START.replace("<item ", '<item xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="false" ')),
    (WRONG_MODEL, "<other/>"), (WRONG_MODEL, START.replace("item", "Item")), (WRONG_MODEL, START.replace("/>", "><item/></item>")),
    (WRONG_MODEL, START.replace("<item ", '<p:item xmlns:p="urn:p" ')), (WRONG_MODEL, START.replace("<item ", '<item xmlns="" ')),
    (6905, START.replace("/>", ' error="5"/>')), (6909, "text"), (6909, START.replace("/>", ">text</item>")), (6909, START + "<![CDATA[x]]>")))
def test_what_may_not_stand_in_a_batch(few, number, start):
    db = few
    refuses_batch(db, number, batch(db, start, FAILED))


@proves("WORD-Xml-10", "TRAN-Xml-10")
@pytest.mark.parametrize("number, failed", (
    (6905, FAILED.replace("/>", f' wsi="{WORKER}"/>')), (6905, FAILED.replace("/>", ' Error="5"/>')), (6905, FAILED.replace("<item ", '<item xmlns:p="urn:p" p:job="1" ')),
    (WRONG_MODEL, FAILED + "<other/>"), (WRONG_MODEL, FAILED.replace("/>", "><item/></item>")), (WRONG_MODEL, FAILED.replace("<item ", '<item xmlns="" ')),
    (6909, "text"), (6909, FAILED.replace("/>", ">text</item>")), (6909, "<![CDATA[x]]>" + FAILED)))
def test_what_may_not_stand_among_the_failed(few, number, failed):
    db = few
    refuses_batch(db, number, batch(db, START, failed))


@proves("WORD-Xml-10", "TRAN-Xml-10")
@pytest.mark.parametrize("before, between, after", (("text", "", ""), ("", "text", ""), ("", "", "text"), ("", "<![CDATA[x]]>", ""), ("&#120;", "", "")))
def test_no_text_stands_between_the_parts_of_a_batch(few, before, between, after):
    db = few
    refuses_batch(db, 6909, batch(db, inside=f"{before}<start>{START}</start>{between}<failed>{FAILED}</failed>{after}"))


@proves("WORD-Xml-10", "TRAN-Xml-10")
@pytest.mark.parametrize("number, inside", (
    (6905, ITEM.replace("/>", ' more="1"/>')), (6905, ITEM.replace("/>", ' In="a"/>')), (6905, ITEM.replace("<item ", '<item xmlns:p="urn:p" p:in="1" ')),
    (6905, ITEM.replace("/>", f' wsi="{WORKER}"/>')), (WRONG_MODEL, ITEM + "<other/>"), (WRONG_MODEL, ITEM.replace("/>", "><x/></item>")),
    (WRONG_MODEL, ITEM.replace("<item ", '<item xmlns="" ')), (WRONG_MODEL, ITEM + ITEM.replace("item", "Item")), (6909, ITEM + "text"), (6909, "text" + ITEM),
    (6909, ITEM.replace("/>", ">text</item>"))))
def test_what_may_not_stand_in_a_group(few, number, inside):
    db = few
    refuses_group(db, number, group(db, inside))


@proves("WORD-Xml-10", "TRAN-Xml-10")
@pytest.mark.parametrize("attribute", ('id="1"', 'more=""', 'xmlns:p="urn:p" p:id="1"', 'xml:space="preserve"'))
def test_a_group_has_no_attributes(few, attribute):
    db = few
    refuses_group(db, 6905, group(db).replace("<group", f"<group {attribute}"))


XSI = "http://www.w3.org/2001/XMLSchema-instance"
HINTS = (f'xmlns:xsi="{XSI}" xsi:schemaLocation="urn:a http://127.0.0.1:9/a.xsd"', f'xmlns:x="{XSI}" x:noNamespaceSchemaLocation="file:///etc/passwd"',
         f'xmlns:xsi="{XSI}" xsi:noNamespaceSchemaLocation="" xsi:schemaLocation=""')


@proves("WORD-Xml-18", "TRAN-Xml-18")
@pytest.mark.parametrize("hint", HINTS)
def test_location_hints_stand_anywhere(few, hint):
    db = few
    db.new_job(1, items=(1, 2))
    document = batch(db, START, FAILED).replace("<batch", f"<batch {hint}").replace("<start", f"<start {hint}").replace("<failed", f"<failed {hint}").replace("<item", f"<item {hint}")
    assert document.count("ocation=") >= 5
    assert len(db.ok("proc_UpdateConversionBatch", BatchXml=document).rows) == 1
    assert db.item(1).StartTime is not None and db.item(2).ErrorCode == 5
    db.add_group(1, 2, JobXml=group(db).replace("<group", f"<group {hint}").replace("<item", f"<item {hint}"))
    assert [tuple(i)[4:] for i in db.items(1, 2)] == [("a", "b")]


@proves("WORD-Xml-18", "TRAN-Xml-18")
@pytest.mark.parametrize("attribute", (f'xmlns:xsi="{XSI}" xsi:nil="true"', f'xmlns:xsi="{XSI}" xsi:type="x"', f'xmlns:xsi="{XSI}" xsi:schemalocation="x"', 'schemaLocation="x"',
                                       f'xmlns:xsi="{XSI}" xsi:other="x"', f'xmlns:xsi="{XSI}x" xsi:schemaLocation="x"', 'xml:schemaLocation="x"'))
@pytest.mark.parametrize("element", ("batch", "start", "failed", "item"))
def test_what_is_no_location_hint(few, element, attribute):
    db = few
    refuses_batch(db, 6905, batch(db, START, FAILED).replace(f"<{element}", f"<{element} {attribute}", 1))


@proves("WORD-Xml-10", "TRAN-Xml-10")
def test_comments_instructions_and_white_space_are_allowed(few):
    db = few
    db.new_job(1, items=(1, 2))
    db.add_group(1, 2, JobXml='<?xml version="1.0"?>\n<!-- c --> ' + group(db, f"\n <!-- x --><?pi y?>\t{ITEM}\r\n ") + "\n<!-- end --><?pi?>\n")
    db.ok("proc_UpdateConversionBatch", BatchXml=batch(db, inside=f" <!-- a --><start> {START}<!-- b --></start>\n<?p q?><failed>\n{FAILED}\n</failed> "))
    assert db.item(1).StartTime is not None and db.item(2).ErrorCode == 5 and len(db.items(1, 2)) == 1


@proves("WORD-Xml-13", "TRAN-Xml-13")
@pytest.mark.parametrize("n", (1, 10000))
def test_a_group_holds_many_items(few, n):
    db = few
    db.new_job(1, items=range(1, n + 1))
    assert db.counts() == {"Total": n, "NotStarted": n}


@proves("WORD-Xml-14", "TRAN-Xml-14", "WORD-AddGroup-07", "TRAN-AddGroup-06", "WORD-Input-02", "TRAN-Input-02")
def test_attributes_of_an_item(few):
    db = few
    db.add_job(1)
    for left_out in ("id", "in") + (() if db.word else ("out",)):
        inside = "<item " + " ".join(f'{k}="{k if k != "id" else 1}"' for k in ("id", "in", "out") if k != left_out) + "/>"
        db.refuses(6906, "proc_AddGroup", **db.group_args(1, JobXml=group(db, ITEM.replace('"1"', '"9"') + inside)))
    for bad in BAD["id"]:
        db.refuses(6926, "proc_AddGroup", **db.group_args(1, JobXml=group(db, f'<item id="{bad}" in="a" out="b"/>')))
    assert db.groups(1) == []


@proves("WORD-Xml-15", "TRAN-Xml-15")
@pytest.mark.parametrize("source, target", (("a%20b.docx", "%2e%2E"), ("", ""), ("&<>\"'", "ü \u4f60 \U0001f600"), ("  two  spaces ", "c:\\x/y?z#1"), ("a" * 5000, "b" * 5000)))
def test_files_are_kept_as_written(few, source, target):
    db = few
    db.new_job(1, items=[(1, source, target)])
    assert (db.item().InputFile, db.item().OutputFile) == (source, target)
    row, = db.handed()
    assert (row.InputFile, row.OutputFile) == (source, target)


@proves("WORD-Xml-15", "TRAN-Xml-15")
def test_attribute_values_are_normalized_as_xml_does(few):
    db = few
    db.add_job(1)
    db.add_group(1, JobXml=group(db, '<item id="1" in="a\n\tb&#10;c&#x20AC;&amp;" out="&lt;&quot;&apos;&gt;"/>'))
    assert (db.item().InputFile, db.item().OutputFile) == ("a  b\nc€&", "<\"'>")


# The printed documents


FILES = {"word": [("Aenean%20nec", "pdf"), ("Fusce%20aliquet", "pdf"), ("Lorem%20ipsum", "xps"), ("Nunc%20viverra", "xps"), ("Pellentesque", "xps")]}
FILES["translation"] = [(name, "") for name, _ in FILES["word"]]


@proves("WORD-Xml-16", "TRAN-Xml-16")
def test_the_printed_group(few):
    db = few
    names = [(n + ".docx", f"{n}.{ending}" if db.word else n + "_Spanish.docx") for n, ending in FILES[db.service]]
    items = "\n".join(f' <item id="{i}" in="{a}" out="{b}" />' for i, (a, b) in enumerate(names, 1))
    db.add_job(1)
    db.add_group(1, JobXml=group(db, "\n" + items + "\n"))
    assert [(i.ItemId, i.InputFile, i.OutputFile) for i in db.items()] == [(i, a, b) for i, (a, b) in enumerate(names, 1)]


@proves("WORD-Xml-12", "TRAN-Xml-12")
def test_the_printed_batch(few):
    db = few
    job = -6843074718075247457
    db.new_job(job, items=(1, 2, 3, 4))
    document = f"""<batch
xmlns="{SPACES[db.service]}databaseBatchUpdate">
  <start>
    <item job="-6843074718075247457" group="1" id="1" wsi="b00ae9a1-0474-474e-b348-f6a8bcc95331" />
    <item job="-6843074718075247457" group="1" id="2" wsi="b00ae9a1-0474-474e-b348-f6a8bcc95331" />
  </start>
  <failed>
    <item job="-6843074718075247457" group="1" id="3" error="10" />
    <item job="-6843074718075247457" group="1" id="4" error="11" />
  </failed>
</batch>"""
    rows = db.ok("proc_UpdateConversionBatch", BatchXml=document).rows
    assert [(r.JobId, r.GroupId) for r in rows] == [(job, 1)]
    assert [(i.StartTime is not None, i.StopTime is not None, i.ErrorCode) for i in db.items(job)] == [(True, False, None)] * 2 + [(False, True, 10), (False, True, 11)]
    assert [(r.ItemId, r.WorkerServerInstance) for r in db.handed(threshold=FAR)] == [(1, WORKER), (2, WORKER)]


# Documents that are none


@proves("WORD-Xml-17", "TRAN-Xml-17", "WORD-UpdateConversionBatch-03", "TRAN-UpdateConversionBatch-03")
@pytest.mark.parametrize("number, text", (
    (NO_DOCUMENT, "not xml at all"), (NO_DOCUMENT, "{}<"), (NO_DOCUMENT, "{}&amp<x"), (range(9400, 9500), "<a><b></a></b>"), (range(9400, 9500), "<batch"),
    (range(9400, 9500), "<batch a='1' a='2'/>"), (range(9400, 9500), "<p:batch/>"), (range(9400, 9500), "<batch>&undefined;</batch>"), (range(9400, 9500), "<batch>\x01</batch>"),
    (6359, "<!DOCTYPE batch>{}"), (6359, "<!DOCTYPE batch [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><batch>&e;</batch>"),
    (6359, "<!DOCTYPE batch SYSTEM 'http://127.0.0.1:9/x.dtd'>{}"), (6359, "<!DOCTYPE a [<!ENTITY b 'x'><!ENTITY c '&b;&b;&b;'>]><a>&c;</a>"),
    (6901, "{}{}"), (NO_DOCUMENT, ""), (NO_DOCUMENT, "   "), (NO_DOCUMENT, "<!-- only a comment -->")))
def test_documents_that_are_none(few, number, text):
    db = few
    if not text and not db.sends_empty:
        number = 515        # DB-Library sends NULL
    refuses_batch(db, number, text.replace("{}", batch(db, START)))
    db.refuses(number, "proc_AddGroup", **db.group_args(1, 2, JobXml=text.replace("{}", group(db))))


@proves("WORD-Xml-17", "TRAN-Xml-17", "WORD-Xml-18", "TRAN-Xml-18")
@pytest.mark.parametrize("kind", ("a DTD", "an entity", "a parameter entity", "hints", "a style sheet", "an inclusion"))
def test_nothing_outside_a_document_is_opened(one_way, tmp_path, kind):
    """A port to which nobody comes and a pipe that nobody opens: both would be seen at once."""
    db, pipe = one_way, tmp_path / "pipe"
    os.mkfifo(pipe)
    db.new_job(1, items=(1, 2))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        for place in (f"http://127.0.0.1:{listener.getsockname()[1]}/x", pipe.as_uri(), str(pipe)):
            document = batch(db, START)
            number, text = {
                "a DTD": (6359, f"<!DOCTYPE batch SYSTEM '{place}'>{document}"),
                "an entity": (6359, f"<!DOCTYPE batch [<!ENTITY e SYSTEM '{place}'>]>" + document.replace("</start>", "&e;</start>")),
                "a parameter entity": (6359, f"<!DOCTYPE batch [<!ENTITY % e SYSTEM '{place}'> %e;]>{document}"),
                "hints": (None, document.replace("<batch", f'<batch xmlns:xsi="{XSI}" xsi:schemaLocation="{SPACES[db.service]}databaseBatchUpdate {place}"')),
                "a style sheet": (None, f'<?xml-stylesheet type="text/xsl" href="{place}"?>{document}'),
                "an inclusion": (WRONG_MODEL, document.replace("</start>", f'<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="{place}"/></start>')),
            }[kind]
            if number:
                db.refuses(number, "proc_UpdateConversionBatch", BatchXml=text)
            else:
                assert len(db.ok("proc_UpdateConversionBatch", BatchXml=text).rows) == 1
            assert not select.select([listener], [], [], 0)[0], "somebody came"
            with pytest.raises(OSError):
                os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))        # ENXIO: nobody reads it


# How the document may arrive


def ways_to_send(text):
    return {
        "xml": (t.Type(0xF1), text.encode("utf-16-le")), "xml with mark": (t.Type(0xF1), b"\xff\xfe" + text.encode("utf-16-le")),
        "xml in utf-8 that says so": (t.Type(0xF1), b'<?xml version="1.0" encoding="utf-8"?>' + text.encode()),
        "nvarchar": t.nvarchar(text), "nvarchar(max)": t.nvarchar_max(text), "varchar": t.varchar(text), "varchar(max)": (t.Type(0xA7, t.MAX), text.encode("cp1252")),
        "ntext": t.ntext(text), "text": (t.Type(0x23, 0x7FFFFFFF), text.encode("cp1252")),
        "nvarchar with a declaration": t.nvarchar('<?xml version="1.0" encoding="utf-16"?>' + text), "varchar with a declaration": t.varchar('<?xml version="1.0" encoding="windows-1252"?>' + text),
    }


@proves("WORD-Xml-15", "TRAN-Xml-15", "WORD-AddGroup-07", "TRAN-AddGroup-06")
@pytest.mark.parametrize("kind", ways_to_send("x"))
def test_a_document_arrives_in_any_text_type(one_way, kind):
    db = one_way
    db.add_job(1)
    document = ways_to_send(db.group_xml([(1, "ü€.docx", "ß.pdf")]))[kind]
    roots = [] if db.word else [Param(t.nvarchar("i"), "@InputRoot"), Param(t.nvarchar("o"), "@OutputRoot")]
    with Wire(db.server).login(database=db.database) as w:
        w.rpc("proc_AddGroup", [Param(t.int_(1, 8), "@JobId"), Param(t.int_(1, 2), "@GroupId"), *roots, Param(t.int_(2, 2), "@MaxAttemptsCount"), Param(document, "@JobXml")]).ok()
        db.submit(1)
        answer = w.rpc("proc_UpdateConversionBatch", [Param(ways_to_send(db.batch_xml([(1, 1, 1)]))[kind], "@BatchXml")]).ok()
    assert len(answer.rows) == 1 and (db.item().InputFile, db.item().OutputFile) == ("ü€.docx", "ß.pdf") and db.item().StartTime is not None


@proves("WORD-Xml-17", "TRAN-Xml-17")
@pytest.mark.parametrize("document", (
    t.nvarchar('<?xml version="1.0" encoding="utf-8"?><a/>'), t.varchar('<?xml version="1.0" encoding="utf-16"?><a/>'),
    (t.Type(0xF1), '<?xml version="1.0" encoding="utf-8"?><a/>'.encode("utf-16-le"))), ids=("utf-8 in nvarchar", "utf-16 in varchar", "utf-8 in utf-16"))
def test_an_encoding_that_is_not_true_is_refused(one_way, document):
    db = one_way
    db.new_job(1)
    before = db.everything()
    with Wire(db.server).login(database=db.database) as w:
        assert w.rpc("proc_UpdateConversionBatch", [Param(document, "@BatchXml")]).numbers == [9402]
    assert db.everything() == before


@proves("WORD-Xml-13", "TRAN-Xml-13", "WORD-Xml-05", "TRAN-Xml-05", "WORD-Xml-06", "TRAN-Xml-06")
@pytest.mark.slow
@sqlite_only("a batch changes the row of its job once for each failed item, and PostgreSQL keeps every version: 4,000 take seconds")
def test_a_hundred_thousand_items_in_one_call(big):
    db, n = big, 100000
    began = time.monotonic()
    db.new_job(1, items=range(1, n + 1))
    db.report(start=[(1, 1, i) for i in range(1, n + 1)])
    assert db.counts() == {"Total": n, "InProgress": n}
    db.report(failed=[(1, 1, i, 0) for i in range(1, n + 1)])
    assert db.counts() == {"Total": n, "Failed": n} and db.active() == 0
    assert time.monotonic() - began < 60


# Documents that are made to take long


def send(db, document, w):
    return w.rpc("proc_UpdateConversionBatch", [Param(document, "@BatchXml")])


@proves("WORD-Xml-19", "TRAN-Xml-19", "WORD-Xml-17", "TRAN-Xml-17")
@pytest.mark.parametrize("kind", ("xml", "xml with mark", "xml in utf-8 that says so", "nvarchar(max)", "ntext"))
def test_one_byte_order_mark_is_enough(one_way, kind):
    db, mark = one_way, "\ufeff"
    kind_of, made = ways_to_send(batch(db, START))[kind]
    unit = mark.encode() if "utf-8" in kind else mark.encode("utf-16-le")
    bare = made.removeprefix(unit)
    db.new_job(1)
    with Wire(db.server).login(database=db.database) as w:
        for marks in (2, 3):
            before = db.everything()
            assert send(db, (kind_of, unit * marks + bare), w).numbers == [9422]
            assert db.everything() == before
        assert len(send(db, (kind_of, unit + bare), w).ok().rows) == 1


MANY = 200_000
LONG = {
    "attributes": lambda db: batch(db, "<item " + " ".join(f'a{i}="1"' for i in range(MANY)) + "/>"),
    "attributes of the root": lambda db: batch(db, START).replace("<batch", "<batch " + " ".join(f"a{i}='1'" for i in range(MANY))),
    "namespaces": lambda db: batch(db, START.replace("<item", "<item " + " ".join(f'xmlns:a{i}="u{i}"' for i in range(MANY)))),
    # START has four attributes of its own: one more than there may be, and each of them allowed.
    "65 of them": lambda db: batch(db, START.replace("<item", "<item " + " ".join(f'xmlns:a{i}="u{i}"' for i in range(61)))),
    "behind a comment": lambda db: batch(db, "<!-- ' <a \" --><?p ' ?>" + "<item " + " ".join(f'a{i}=">"' for i in range(MANY)) + "/>"),
}


@proves("WORD-Xml-19", "TRAN-Xml-19")
@pytest.mark.parametrize("kind", LONG)
def test_attributes_are_bounded(one_way, kind):
    """libxml2 compares each attribute of an element with all others: ten seconds for these. They are counted before it sees them."""
    db = one_way
    assert "has more than 64 attributes" in str(refuses_batch(db, 6905, LONG[kind](db)))
    db.add_group(1, 2)


@proves("WORD-Xml-19", "TRAN-Xml-19")
def test_as_many_attributes_as_there_may_be(one_way):
    db = one_way
    db.new_job(1)
    spaces = " ".join(f'xmlns:a{i}="u{i}"' for i in range(60))
    assert len(db.ok("proc_UpdateConversionBatch", BatchXml=batch(db, START.replace("<item", "<item " + spaces))).rows) == 1
    value = "x" * 3_000_000
    db.add_group(1, 2, JobXml=group(db, f'<!-- {value} --><item id="1" in="{value}" out=\'"<&gt;\'/>'.replace("\"<", "\"")))
    assert db.items(1, 2)[0].InputFile == value and db.items(1, 2)[0].OutputFile == '">'


@proves("WORD-Xml-19", "TRAN-Xml-19")
@pytest.mark.parametrize("depth", (65, 1000, 1_000_000))
def test_depth_is_bounded(one_way, depth):
    """No deep document is valid: what is told is where it begins not to be. Beyond the bound it is not even read on."""
    db = one_way
    refuses_batch(db, WRONG_MODEL, batch(db, inside="<a>" * depth + "</a>" * depth))
    db.refuses(WRONG_MODEL, "proc_UpdateConversionBatch", BatchXml=batch(db, inside="<a>" * depth))
    db.refuses(range(9400, 9500), "proc_UpdateConversionBatch", BatchXml=batch(db, inside="<a>" * 60))      # read on, and not well formed


# Who reads a document holds nobody up

SERVICES = (("word", "WordAutomation"), ("translation", "Translation"))


@proves("WORD-Xml-19", "TRAN-Xml-19")
@pytest.mark.parametrize("padding", (0, 100_000), ids=("short", "long"))
@pytest.mark.parametrize("service, database", SERVICES)
def test_documents_are_read_before_the_writer_is_wanted(server, service, database, padding):
    """Another client's transaction has the writer: a bad document is told so at once, a good one waits for its turn and works then."""
    space = SPACES[service] + "databaseBatchUpdate"
    with Wire(server).login(database=database) as holder, Wire(server).login(database=database) as w:
        holder.batch("BEGIN TRAN EXEC proc_CancelAllActiveJobs").ok()
        w.batch("SET LOCK_TIMEOUT 300").ok()
        for number, inside in ((6908, "<start/>"), (6926, '<start><item job="x" group="1" id="1" wsi="b00ae9a1-0474-474e-b348-f6a8bcc95331"/></start><failed/>'), (1222, "<start/><failed/>")):
            document = f'<batch xmlns="{space}">' + " " * padding + inside + "</batch>"
            assert w.rpc("proc_UpdateConversionBatch", [Param(t.nvarchar_max(document), "@BatchXml")]).numbers == [number]
        assert w.batch(f"DECLARE @x nvarchar(max) = REPLICATE(CAST(' ' AS nvarchar(max)), {padding}) + N'<other/>' EXEC proc_UpdateConversionBatch @x").numbers == [6913]
        holder.batch("ROLLBACK").ok()
        assert w.rpc("proc_UpdateConversionBatch", [Param(t.nvarchar_max(document), "@BatchXml")]).ok().rows == []
        w.batch("SET XACT_ABORT ON BEGIN TRAN").ok()
        assert w.rpc("proc_UpdateConversionBatch", [Param(t.nvarchar_max(document.replace("<failed/>", "")), "@BatchXml")]).numbers == [6908]
        assert w.batch("SELECT @@TRANCOUNT").value == 0


def long_document(service):
    """The message of a call whose document takes a server some tenths of a second, and nothing else of it any time."""
    text = f'<?xml version="1.0" encoding="utf-8"?><batch xmlns="{SPACES[service]}databaseBatchUpdate">{"<?p?>" * 6_000_000}<start/><failed/></batch>'
    return tds.packets(tds.RPC, tds.rpc_body([("proc_UpdateConversionBatch", [Param((t.Type(0xF1), text.encode()), "@BatchXml")])]))


def send_most(w, server, message):
    """All but the end, and waits until the server has taken it in: what follows is the work of reading."""
    w.send(message[:-10])
    before, now = None, server.processor_seconds()
    while now != before:
        time.sleep(0.3)
        before, now = now, server.processor_seconds()
    return message[-10:]


def still_works(w, service):
    short = f'<batch xmlns="{SPACES[service]}databaseBatchUpdate"><start/><failed/></batch>'
    return w.rpc("proc_UpdateConversionBatch", [Param(t.nvarchar_max(short), "@BatchXml")]).ok().rows == []


@proves("WORD-Xml-19", "TRAN-Xml-19")
@pytest.mark.parametrize("service, database", SERVICES)
def test_a_long_document_ends_at_an_attention(new_server, service, database):
    """By what the server has to work for it: a document that nobody wants any more is not read on."""
    server = new_server()
    message = long_document(service)
    with Wire(server).login(database=database) as w:
        end = send_most(w, server, message)
        before = server.processor_seconds()
        w.send(end)
        assert w.answer(tds.RPC).ok().rows == []
        whole = server.processor_seconds() - before
        for _ in range(10):                             # on a busy machine it may be read before the attention is even sent
            end = send_most(w, server, message)
            before = server.processor_seconds()
            w.send(end)
            time.sleep(0.03)
            w.send(tds.packets(tds.ATTENTION, b""))
            first = w.answer(tds.RPC, check=False)
            if not first.last.status & tds.ATTN:
                w.acknowledgement()
            worked = server.processor_seconds() - before
            if worked < 0.6 * whole:
                break
        assert worked < 0.6 * whole and not first.results and first.status is None and not first.errors
        assert still_works(w, service)


@proves("WORD-Xml-19", "TRAN-Xml-19")
@pytest.mark.parametrize("service, database", SERVICES)
def test_a_long_document_holds_nobody_up(new_server, service, database):
    """Not even who shares the only event loop with its sender, and asks for something short later."""
    server = new_server(settings={"io_threads": 1})
    message = long_document(service)
    with Wire(server).login(database=database) as w, Wire(server).login(database=database) as other:
        for turn in range(2):
            w.send(send_most(w, server, message))
            time.sleep(0.02)
            assert other.batch(f"SELECT {turn}").value == turn
            assert not select.select([w.sock], [], [], 0)[0], "the document was read first"
            assert w.answer(tds.RPC).ok().rows == []


@proves("WORD-Xml-19", "TRAN-Xml-19")
@pytest.mark.parametrize("service, database", SERVICES)
def test_reading_a_long_document_ends_at_the_time_limit(new_server, service, database):
    """The server is stopped for more than its second again and again, so that this document, which takes it some tenths, meets the limit while it is read."""
    hasty = new_server(settings={"execution_timeout": 1})
    with Wire(hasty).login(database=database) as w:
        w.send(long_document(service))
        while True:
            time.sleep(0.2 if is_sanitized() else 0.02)
            hasty.signal(signal.SIGSTOP)
            answered = select.select([w.sock], [], [], 1.2)[0]
            hasty.signal(signal.SIGCONT)
            if answered:
                break
        assert w.answer(tds.RPC, check=False).numbers == [50001]
        assert still_works(w, service)


def test_a_document_is_read_once_for_calls_that_run_again(server):
    """A call of the same group fails late, so that the group is undone and run again: each still reports the groups that it changed itself."""
    database = "WordAutomation"
    job, space = 77_000_001, SPACES["word"]
    with Wire(server).login(database=database) as w:
        w.rpc("proc_AddJob", [Param(t.int_(job, 8), "@JobId"), Param(t.nvarchar("s"), "@Settings")]).ok()
        add = f'<group xmlns="{space}databaseJobAdd"><item id="1" in="a"/><item id="2" in="b"/></group>'
        w.rpc("proc_AddGroup", [Param(t.int_(job, 8), "@JobId"), Param(t.int_(1, 2), "@GroupId"), Param(t.int_(2, 2), "@MaxAttemptsCount"), Param(t.nvarchar_max(add), "@JobXml")]).ok()
        twice = f'<group xmlns="{space}databaseJobAdd"><item id="1" in="a"/><item id="1" in="b"/></group>'
        start = f'<batch xmlns="{space}databaseBatchUpdate"><start><item job="{job}" group="1" id="1" wsi="{WORKER}"/></start><failed/></batch>'
        with contextlib.ExitStack() as stack:
            others = [stack.enter_context(Wire(server).login(database=database)) for _ in range(6)]
            for turn in range(10):
                for i, other in enumerate(others):
                    if i % 2:
                        params = [Param(t.int_(job, 8), "@JobId"), Param(t.int_(100 + i, 2), "@GroupId"), Param(t.int_(2, 2), "@MaxAttemptsCount"), Param(t.nvarchar_max(twice), "@JobXml")]
                        other.send_message(tds.RPC, tds.rpc_body([("proc_AddGroup", params)], other.version))
                    else:
                        other.send_message(tds.RPC, tds.rpc_body([("proc_UpdateConversionBatch", [Param(t.nvarchar_max(start), "@BatchXml")])], other.version))
                for i, other in enumerate(others):
                    answer = other.answer(tds.RPC)
                    assert answer.numbers == [2627] if i % 2 else [tuple(r)[:2] for r in answer.rows] == [(job, 1)], (turn, i)
        w.rpc("proc_JobsExpire", [Param(t.int_(job, 8), "@JobId"), Param(t.int_(1, 1), "@IncludeActiveJobs")]).ok()
