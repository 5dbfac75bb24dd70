"""Documents that nobody should write: each is an error of its own, quickly, and harms no other."""
import random
import struct

import pytest

from support import documents as made
from support.converter import CANCELLED, CORRUPT, ENCRYPTED, OK, TIMEOUT, UNPACKED, UNSUPPORTED, Converter, pdf_text

PLAIN = made.docx(made.paragraph("a whole document"))
WORD_HEADER = b"\xEC\xA5\xC1\0" + b"\0" * 6 + b"\0\x01"         # [MS-DOC] 2.5.2, fEncrypted


@pytest.fixture(scope="module")
def converter():
    with Converter(slots=2, unpacked=48) as c:
        yield c


def damaged(position):
    """One bit of the packed text is wrong; the package is whole."""
    data = bytearray(made.docx(made.paragraph("word " * 2000)))
    at = data.index(b"word/document.xml") + position
    data[at] ^= 0x10
    return bytes(data)


def liar():
    """Says in its directory that it unpacks to little."""
    data = bytearray(made.docx(made.paragraph("x") + "<!--" + " " * (80 << 20) + "-->"))
    at = data.rindex(b"PK\x01\x02", 0, data.rindex(b"word/document.xml"))
    struct.pack_into("<I", data, at + 24, 1000)
    return bytes(data)


BAD = {
    "empty": ("a.docx", b"", CORRUPT, "empty"),
    "random bytes": ("a.docx", random.Random(1).randbytes(5000), CORRUPT, "no document"),
    "text called docx": ("a.docx", b"just some text\n", CORRUPT, "plain text"),
    "cut": ("a.docx", PLAIN[:len(PLAIN) // 2], CORRUPT, "damaged"),
    "beginning only": ("a.docx", PLAIN[:30], CORRUPT, "damaged"),
    "not XML inside": ("a.docx", made.docx("<w:p><w:r>"), CORRUPT, "cannot read"),
    "a bit wrong": ("a.docx", damaged(60), CORRUPT, "damaged"),
    "cut compound": ("a.doc", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + b"\0" * 100, CORRUPT, "cut"),
    "compound of nothing": ("a.doc", made.compound({"Contents": b""}), CORRUPT, "directory"),
    "Word without header": ("a.doc", made.compound({"WordDocument": b""}), CORRUPT, "header"),
    "Open XML with password": ("a.docx", made.compound({"EncryptionInfo": b"", "EncryptedPackage": b""}), ENCRYPTED, "password"),
    "Open XML under rights": ("a.docx", made.compound({"\tDRMContent": b""}), ENCRYPTED, "rights"),
    "Word 97 with password": ("a.doc", made.compound({"WordDocument": WORD_HEADER}), ENCRYPTED, "password"),
    "OpenDocument with password": ("a.odt", made.odt("<text:p/>", manifest_extra=made.ENCRYPTED_ENTRY), ENCRYPTED, "password"),
    "workbook": ("a.xlsx", made.docx("", "xlsx"), UNSUPPORTED, "spreadsheet"),
    "presentation": ("a.pptx", made.docx("", "pptx"), UNSUPPORTED, "presentation"),
    "old workbook": ("a.xls", made.compound({"Workbook": b""}), UNSUPPORTED, "spreadsheet"),
    "OpenDocument spreadsheet": ("a.ods", made.odt("", "spreadsheet"), UNSUPPORTED, "another kind"),
    "zip": ("a.zip", made.docx("").replace(b"[Content_Types].xml", b"(Content_Types).xml"), UNSUPPORTED, "zip"),
    "PDF": ("a.pdf", b"%PDF-1.4\n", UNSUPPORTED, "PDF"),
    "web archive": ("a.mht", b"MIME-Version: 1.0\nContent-Type: multipart/related\n\n", UNSUPPORTED, "MHTML"),
    "other XML": ("a.xml", b"<?xml version='1.0'?><svg/>", UNSUPPORTED, "XML"),
    "zip bomb": ("a.docx", made.docx("<!--" + " " * (60 << 20) + "-->"), UNPACKED, "48 MiB"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_documents(converter, tmp_path, what):
    name, content, error, says = BAD[what]
    result = converter.convert(tmp_path, name, content, "out.pdf")
    assert (result.error, says in result.text) == (error, True), result
    assert result.output.stat().st_size == 0


def test_one_that_lies_about_its_size_is_found_out(converter, tmp_path):
    result = converter.convert(tmp_path, "a.docx", liar(), "out.pdf")
    assert result.error in (UNPACKED, CORRUPT), result


@pytest.mark.parametrize("content", [made.nested_tables(3000), made.endless()], ids=["nested", "endless"])
def test_a_document_without_end_is_ended_and_the_next_is_converted(converter, tmp_path, content):
    (tmp_path / "long.docx").write_bytes(content)
    long = converter.submit(tmp_path / "long.docx", tmp_path / "long.pdf", seconds=3)
    short = converter.convert(tmp_path, "short.docx", PLAIN, "short.pdf")
    assert pdf_text(short.output) == "a whole document"
    result = converter.wait(long)
    if result.error != OK:          # a crash for want of stack is as good an end
        assert result.error in (TIMEOUT, CORRUPT, 10), result
        assert result.output.stat().st_size == 0
    else:
        assert result.wall_ms < 3000
    assert converter.convert(tmp_path, "short.docx", PLAIN, "after.pdf").error == OK


def test_the_time_limit_is_said(converter, tmp_path):
    result = converter.convert(tmp_path, "long.docx", made.endless(), "long.pdf", seconds=2)
    assert (result.error, result.text) == (TIMEOUT, "it took longer than 2 seconds")


def test_cancelled(converter, tmp_path):
    (tmp_path / "long.docx").write_bytes(made.endless())
    number = converter.submit(tmp_path / "long.docx", tmp_path / "long.pdf")
    converter.document_pid()
    converter.cancel(number)
    assert converter.wait(number).error == CANCELLED


def test_many_at_once_are_all_answered(converter, tmp_path):
    numbers = []
    for i in range(12):
        (tmp_path / f"{i}.docx").write_bytes(made.docx(made.paragraph(f"number {i}")) if i % 3 else b"broken")
        numbers.append(converter.submit(tmp_path / f"{i}.docx", tmp_path / f"{i}.pdf"))
    for i, number in enumerate(numbers):
        result = converter.wait(number)
        assert (result.error == OK) == bool(i % 3), result
        if i % 3:
            assert pdf_text(result.output) == f"number {i}"
