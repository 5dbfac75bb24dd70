"""Every format and every setting, looked at from outside: what comes out is of the format, says what the document said, and looks
as the settings asked for. What cannot be done is refused by name."""
import email
import re
import zipfile

import pytest

from support import documents as made
from support.converter import (CORRUPT, OK, OUTPUT_UNSUPPORTED, SETTING_UNSUPPORTED, SETTINGS_INVALID, UNSUPPORTED, Converter, job,
                               pdf_info, pdf_text, tool)

TEXT = "Grüße aus der Prozession"
PLAIN = made.docx(made.paragraph(TEXT))


@pytest.fixture(scope="module")
def converter():
    with Converter(slots=2) as c:
        yield c


def main_type(path):
    types = zipfile.ZipFile(path).read("[Content_Types].xml").decode()
    return re.search(r'ContentType="([^"]*main\+xml)"', types)[1]


# --- what can be made ---

FORMATS = {
    "PDF": ("pdf", lambda p: p.read_bytes().startswith(b"%PDF-")),
    "Document": ("docx", lambda p: main_type(p) == made.MAIN["docx"]),
    "DocumentMacroEnabled": ("docm", lambda p: main_type(p) == made.MAIN["docm"]),
    "Document97": ("doc", lambda p: p.read_bytes().startswith(b"\xD0\xCF\x11\xE0")),
    "Template": ("dotx", lambda p: main_type(p) == made.MAIN["dotx"]),
    "TemplateMacroEnabled": ("dotm", lambda p: main_type(p) == made.MAIN["dotm"]),
    "Template97": ("dot", lambda p: p.read_bytes().startswith(b"\xD0\xCF\x11\xE0")),
    "RTF": ("rtf", lambda p: p.read_bytes().startswith(b"{\\rtf")),
    "ODT": ("odt", lambda p: zipfile.ZipFile(p).read("mimetype") == b"application/vnd.oasis.opendocument.text"),
    "XML": ("xml", lambda p: b"office/word/2003/wordml" in p.read_bytes()),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_by_its_name_and_by_the_extension(converter, tmp_path, name):
    extension, looks_right = FORMATS[name]
    named = converter.convert(tmp_path, "a.docx", PLAIN, "named.bin", job(OutputFormat=name))
    automatic = converter.convert(tmp_path, "a.docx", PLAIN, f"automatic.{extension.upper()}")
    for result in named, automatic:
        assert result.error == OK, result
        assert result.size == result.output.stat().st_size > 0
        assert looks_right(result.output)
    if name == "PDF":
        assert pdf_text(named.output) == TEXT
        return
    back = converter.convert(tmp_path, f"b.{extension}", named.output.read_bytes(), "back.pdf")
    assert back.error == OK, back
    assert pdf_text(back.output) == TEXT


def test_a_document_97_template_is_one(converter, tmp_path):
    document = converter.convert(tmp_path, "a.docx", PLAIN, "a.doc").output.read_bytes()
    template = converter.convert(tmp_path, "a.docx", PLAIN, "a.dot").output.read_bytes()

    def is_template(data):
        fib = data.index(b"\xEC\xA5")           # [MS-DOC] 2.5.2: fDot
        return data[fib + 10] & 1

    assert (is_template(document), is_template(template)) == (0, 1)


@pytest.mark.parametrize("extension", ["mht", "mhtml"])
def test_a_web_archive_has_the_page_and_its_pictures(converter, tmp_path, extension):
    result = converter.convert(tmp_path, "a.docx", made.docx_with_picture(TEXT), f"a.{extension}")
    assert result.error == OK, result
    archive = email.message_from_bytes(result.output.read_bytes())
    page, *pictures = archive.get_payload()
    html = page.get_payload(decode=True).decode("utf-8")
    assert archive.get_content_type() == "multipart/related"
    assert page.get_content_type() == "text/html"
    assert TEXT in html
    assert [p.get_content_type() for p in pictures] == ["image/png"]
    assert pictures[0].get_payload(decode=True).startswith(b"\x89PNG")
    assert f'src="{pictures[0]["Content-Location"]}"' in html


@pytest.mark.parametrize("output, settings, says", [
    ("a.xps", job(OutputFormat="XPS"), "XPS"),
    ("a.docx", job(OutputFormat="DocumentStrict"), "DocumentStrict"),
    ("a.unknown", "", "no extension"),
    ("a", job(OutputFormat="Automatic"), "no extension"),
])
def test_what_cannot_be_made_is_refused(converter, tmp_path, output, settings, says):
    result = converter.convert(tmp_path, "a.docx", PLAIN, output, settings)
    assert result.error == OUTPUT_UNSUPPORTED
    assert says in result.text
    assert result.output.stat().st_size == 0


# --- what can be read ---

INPUTS = {
    "docx": PLAIN,
    "docm": made.docx(made.paragraph(TEXT), "docm"),
    "dotx": made.docx(made.paragraph(TEXT), "dotx"),
    "dotm": made.docx(made.paragraph(TEXT), "dotm"),
    "odt": made.odt(f"<text:p>{TEXT}</text:p>"),
    "ott": made.odt(f"<text:p>{TEXT}</text:p>", "text-template"),
    "fodt": ('<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
             'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2" '
             'office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>'
             f'<text:p>{TEXT}</text:p></office:text></office:body></office:document>').encode(),
    "rtf": b"{\\rtf1\\ansi Gr\\'fc\\'dfe aus der Prozession}",
    "html": f'<!DOCTYPE html><html><head><meta charset="utf-8"></head><body><p>{TEXT}</p></body></html>'.encode(),
    "txt": TEXT.encode(),
}


@pytest.mark.parametrize("extension", INPUTS)
def test_every_kind_of_input_is_known_by_its_bytes(converter, tmp_path, extension):
    """By its bytes: under a wrong name, too. Plain text has no mark of its own, so there the name decides."""
    names = [f"a.{extension}"] + ([] if extension == "txt" else ["wrong.doc"])
    for name, attempt in [(name, 1) for name in names] + [(names[0], 2)]:       # the second by soffice
        result = converter.convert(tmp_path, name, INPUTS[extension], "a.pdf", attempt=attempt)
        assert result.error == OK, result
        assert pdf_text(result.output) == TEXT


@pytest.mark.parametrize("content", ["<p>from the <b>Procession</b></p>", "<!-- c --><div>from the Procession</div>"])
def test_a_piece_of_html_is_known_by_its_name(converter, tmp_path, content):
    """Without <html> it begins with a tag that XML may have as well. What begins with words is text, for LibreOffice, too."""
    for name, attempt in ("a.html", 1), ("a.HTM", 1), ("a.html", 2):
        result = converter.convert(tmp_path, name, content.encode(), "a.pdf", attempt=attempt)
        assert result.error == OK, result
        assert pdf_text(result.output) == "from the Procession"
    assert converter.convert(tmp_path, "a.docx", content.encode(), "a.pdf").error in (CORRUPT, UNSUPPORTED)
    assert converter.convert(tmp_path, "a.html", b"from the <i>Procession</i>", "a.pdf").error == CORRUPT
    assert converter.convert(tmp_path, "a.html", b"<?xml version='1.0'?><svg/>", "a.pdf").error == UNSUPPORTED


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_in_any_usual_encoding(converter, tmp_path, encoding):
    result = converter.convert(tmp_path, "a.txt", TEXT.encode(encoding), "a.pdf")
    assert result.error == OK, result
    assert pdf_text(result.output) == TEXT


# --- settings of PDF ---

def test_archive_pdf_tags_and_headings(converter, tmp_path):
    document = made.docx_with_contents()
    plain = converter.convert(tmp_path, "a.docx", document, "plain.pdf")
    archive = converter.convert(tmp_path, "a.docx", document, "archive.pdf", job(fixed={"UsePDFA": "true"}))
    bare = converter.convert(tmp_path, "a.docx", document, "bare.pdf",
                             job(fixed={"IncludeDocumentStructure": "false", "Bookmarks": "None"}))
    assert [r.error for r in (plain, archive, bare)] == [OK] * 3
    assert pdf_info(plain.output)["Tagged"] == "yes"
    assert pdf_info(bare.output)["Tagged"] == "no"
    assert b"pdfaid:part" in archive.output.read_bytes()
    assert b"pdfaid:part" not in plain.output.read_bytes()
    assert b"/Outlines" in plain.output.read_bytes()
    assert b"/Outlines" not in bare.output.read_bytes()


def test_some_pages_only(converter, tmp_path):
    pages = made.docx(made.page_break().join(made.paragraph(f"page{i}") for i in range(1, 6)))
    result = converter.convert(tmp_path, "a.docx", pages, "a.pdf", job(fixed={"PageRange": "2,4-5"}))
    assert result.error == OK, result
    assert pdf_text(result.output) == "page2 page4 page5"


def test_smaller_pictures(converter, tmp_path):
    document = made.docx_with_picture("noise", noise=True, size=900)
    standard = converter.convert(tmp_path, "a.docx", document, "standard.pdf")
    small = converter.convert(tmp_path, "a.docx", document, "small.pdf", job(fixed={"OutputQuality": "Minimum"}))
    assert 0 < small.size < standard.size / 2


@pytest.mark.parametrize("settings, text", [
    ("", "keep inserted deleted end"),
    (job(RevisionState="FinalShowingMarkup"), "keep inserted deleted end"),
    (job(RevisionState="Final"), "keep inserted end"),
    (job(RevisionState="Original"), "keep deleted end"),
    (job(MarkupView="Comments"), "keep inserted end"),
    (job(MarkupView="Comments Ink Text Formatting"), "keep inserted deleted end"),
])
def test_tracked_changes_as_the_settings_say(converter, tmp_path, settings, text):
    result = converter.convert(tmp_path, "a.docx", made.docx_with_changes(), "a.pdf", settings)
    assert result.error == OK, result
    assert pdf_text(result.output) == text


@pytest.mark.parametrize("settings, there", [
    ("", True), (job(MarkupView="Comments,Text,Formatting"), True), (job(MarkupView="Text Formatting"), False),
    (job(RevisionState="Final"), False),
])
def test_comments_are_notes_of_the_pdf(converter, tmp_path, settings, there):
    document = made.docx_with_comment("the text", "the remark")
    result = converter.convert(tmp_path, "a.docx", document, "a.pdf", settings)
    assert pdf_text(result.output) == "the text"
    assert (b"/Subtype /Text" in result.output.read_bytes()) == there


def test_fields_are_brought_up_to_date(converter, tmp_path):
    stale = converter.convert(tmp_path, "a.docx", made.docx_with_contents(), "stale.pdf")
    fresh = converter.convert(tmp_path, "a.docx", made.docx_with_contents(), "fresh.pdf", job(UpdateFields="true"))
    first_page = [tool("pdftotext", "-l", "1", r.output, "-") for r in (stale, fresh)]
    assert "stale entry" in first_page[0] and "fresh heading" not in first_page[0]
    assert "stale entry" not in first_page[1] and "fresh heading" in first_page[1]


@pytest.mark.parametrize("settings, document, says", [
    (job(UpdateFields="true"), lambda kind: made.docx_with_contents(kind), "UpdateFields"),
    (job(RevisionState="Original"), lambda kind: made.docx_with_changes(**made.protection(kind)), "RevisionState"),
])
def test_what_a_protected_document_does_not_let_be_done_is_an_error(converter, tmp_path, settings, document, says):
    """LibreOffice passes over it in silence. Protection that allows it, or that is for forms, hinders nothing; nor is having nothing to do an error."""
    refused = converter.convert(tmp_path, "a.docx", document("readOnly"), "a.pdf", settings)
    assert refused.error == SETTING_UNSUPPORTED and says in refused.text and "protected" in refused.text
    for content in document("trackedChanges"), document("forms"), PLAIN:
        assert converter.convert(tmp_path, "a.docx", content, "a.pdf", settings).error == OK


@pytest.mark.parametrize("protected, error", [("true", SETTING_UNSUPPORTED), ("false", OK)])
def test_a_protected_odt_does_not_let_its_fields_be_updated(converter, tmp_path, protected, error):
    item = f'<config:config-item config:name="LoadReadonly" config:type="boolean">{protected}</config:config-item>'
    settings = ('<office:document-settings xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" office:version="1.2" '
                'xmlns:config="urn:oasis:names:tc:opendocument:xmlns:config:1.0"><office:settings>'
                f'<config:config-item-set config:name="ooo:configuration-settings">{item}</config:config-item-set>'
                '</office:settings></office:document-settings>')
    content = made.odt(f"<text:p>{TEXT}</text:p>", parts={"settings.xml": settings})
    assert converter.convert(tmp_path, "a.odt", content, "a.pdf", job(UpdateFields="true")).error == error


@pytest.mark.parametrize("attempt", [1, 2])
@pytest.mark.parametrize("source", ["docm", "dotm"])
def test_macros_are_kept_where_the_format_has_them(converter, tmp_path, source, attempt):
    """And only there: a docx with macros would not be opened."""
    content = made.docm(TEXT, {"PROJECT": b"Module=Module1\r\nmark of the macros\r\n"}, source)
    for extension, kept in ("docm", True), ("dotm", True), ("docx", False), ("dotx", False):
        result = converter.convert(tmp_path, f"in.{source}", content, f"a.{extension}", attempt=attempt)
        assert result.error == OK, result
        package = zipfile.ZipFile(result.output)
        assert ("word/vbaProject.bin" in package.namelist()) == kept and main_type(result.output) == made.MAIN[extension]
        for part in "[Content_Types].xml", "word/_rels/document.xml.rels":
            assert (b"vbaProject" in package.read(part)) == kept
        if kept:
            assert b"mark of the macros" in package.read("word/vbaProject.bin")
        back = converter.convert(tmp_path, f"b.{extension}", result.output.read_bytes(), "back.pdf")
        assert back.error == OK and pdf_text(back.output) == TEXT


@pytest.mark.parametrize("attempt", [1, 2])
@pytest.mark.parametrize("language, paper", [("de-DE", "A4"), ("en-US", "letter")])
@pytest.mark.parametrize("name", ["a.txt", "a.html"])
def test_the_language_decides_on_the_paper(converter, tmp_path, name, language, paper, attempt):
    """Of text and HTML, which have none of their own; by LibreOfficeKit and by soffice."""
    result = converter.convert(tmp_path, name, b"<p>text</p>", "a.pdf", job(DefaultLanguage=language), attempt=attempt)
    assert paper in pdf_info(result.output)["Page size"]


@pytest.mark.parametrize("settings", [
    job(CompatibilityMode="MaintainCurrentSetting", BalloonState="OnlyCommentsAndFormatting", OutputSaveBehavior="AlwaysOverwrite"),
    job(EmbedFonts="true", DoNotEmbedSystemFonts="true", SubsetEmbeddedFonts="true", AddThumbnail="false"),
    job(fixed={"BitmapUnembeddableFonts": "true", "IncludeDocumentProperties": "true", "Bookmarks": "Headings",
               "OutputQuality": "Standard"}),
    '<c:ConversionJobSettings xmlns:c="http://schemas.microsoft.com/office/server/word/2009/08/conversionJobSettings">'
    '<c:OutputFormat>PDF</c:OutputFormat></c:ConversionJobSettings>',
    "<settings/>", "  ",
])
def test_settings_that_ask_for_what_is_done_anyway(converter, tmp_path, settings):
    assert converter.convert(tmp_path, "a.docx", PLAIN, "a.pdf", settings).error == OK


@pytest.mark.parametrize("output, settings, says", [
    ("a.pdf", job(AddThumbnail="true"), "AddThumbnail"),
    ("a.docx", job(EmbedFonts="true"), "EmbedFonts"),
    ("a.docx", job(CompatibilityMode="Word2010"), "CompatibilityMode"),
    ("a.docx", job(RevisionState="Final"), "RevisionState"),
    ("a.odt", job(MarkupView="Comments"), "MarkupView"),
    ("a.pdf", job(RevisionState="OriginalShowingMarkup"), "OriginalShowingMarkup"),
    ("a.pdf", job(BalloonState="Inline"), "BalloonState"),
    ("a.pdf", job(MarkupView="Text"), "MarkupView"),
    ("a.pdf", job(fixed={"IncludeDocumentProperties": "false"}), "IncludeDocumentProperties"),
    ("a.pdf", job(fixed={"Bookmarks": "Bookmarks"}), "Bookmarks"),
])
def test_settings_that_libreoffice_cannot_do_are_refused(converter, tmp_path, output, settings, says):
    result = converter.convert(tmp_path, "a.docx", PLAIN, output, settings)
    assert result.error == SETTING_UNSUPPORTED
    assert says in result.text


@pytest.mark.parametrize("settings", [
    "anything", "<a/>", "<settings>", job(OutputFormat="Word"), job(Unknown="1"), job(UpdateFields="maybe"), job(UsePDFA="true"),
    job(fixed={"PageRange": "1-"}), job(fixed={"PageRange": "1;rm"}), job(DefaultLanguage="de,Password=x"),
    "<!DOCTYPE a [<!ENTITY x 'PDF'>]><settings><OutputFormat>&x;</OutputFormat></settings>",
])
def test_settings_that_nobody_understands(converter, tmp_path, settings):
    result = converter.convert(tmp_path, "a.docx", PLAIN, "a.pdf", settings)
    assert result.error == SETTINGS_INVALID, result


# --- the second attempt ---

@pytest.mark.parametrize("extension", ["pdf", "odt", "xml", "dot"])
def test_the_second_attempt_takes_another_way_to_the_same_end(converter, tmp_path, extension):
    result = converter.convert(tmp_path, "a.docx", PLAIN, f"a.{extension}", attempt=2)
    assert result.error == OK, result
    if extension != "pdf":
        result = converter.convert(tmp_path, f"b.{extension}", result.output.read_bytes(), "b.pdf")
    assert pdf_text(result.output) == TEXT


def test_the_second_attempt_says_that_it_failed_too(converter, tmp_path):
    broken = made.docx("<w:p><w:r>")
    result = converter.convert(tmp_path, "a.docx", broken, "a.pdf", attempt=2)
    assert result.error != OK and "second attempt" in result.text
    assert result.output.stat().st_size == 0


def test_the_second_attempt_with_settings_that_only_the_first_way_can(converter, tmp_path):
    result = converter.convert(tmp_path, "a.docx", made.docx_with_changes(), "a.pdf", job(RevisionState="Original"), attempt=2)
    assert pdf_text(result.output) == "keep deleted end"
