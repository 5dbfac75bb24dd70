"""Documents of every kind, translated by the real Apertium, keep their form."""
import re
import xml.etree.ElementTree as ET

import pytest

import translatedocuments as made
from translateengine import fails, needs_apertium, settings, succeeds, translate

pytestmark = needs_apertium


def text_of(xml):
    return "".join(ET.fromstring(xml).itertext())


def test_text(tmp_path):
    out = succeeds(made.txt(tmp_path / "a.txt"), tmp_path / "b.txt")
    assert out.read_text(encoding="utf-8") == "La casa es en el cerro.\n\nMi perro es grande.\n"


def test_unknown_words_are_left_without_a_sign(tmp_path):
    source = tmp_path / "a.txt"
    source.write_text("The house of Qwxyz is big.\n")
    assert succeeds(source, tmp_path / "b.txt").read_text(encoding="utf-8") == "La casa de Qwxyz es grande.\n"


def test_html(tmp_path):
    page = succeeds(made.html(tmp_path / "a.html"), tmp_path / "b.html").read_text(encoding="utf-8")
    assert "<title>Mi casa</title>" in page and '<h1 id="top">Mi casa</h1>' in page
    assert "<p>La casa <b>grande</b> es en el <a href=\"http://example.invalid/?a=1&amp;b=2\">cerro</a>.</p>" in page
    assert "p { color: red }" in page and '<img src="house.png"' in page and "<li>El perro</li>" in page


def test_docx(tmp_path):
    source = made.docx(tmp_path / "a.docx")
    before, after = made.parts_of(source), made.parts_of(succeeds(source, tmp_path / "b.docx"))
    assert before.keys() == after.keys()
    for part in before.keys() - {"word/document.xml"}:
        assert before[part] == after[part], part
    body = ET.fromstring(after["word/document.xml"])
    word = "{" + made.WORD + "}"
    paragraphs = ["".join(t.text or "" for t in p.iter(word + "t")) for p in body.iter(word + "p")]
    assert paragraphs == ["Mi casa", "La casa grande es en el cerro.", "El perro", "42"]
    bold = [r.find(word + "t").text.strip() for r in body.iter(word + "r") if r.find(f"{word}rPr/{word}b") is not None]
    assert bold == ["grande"]
    assert body.find(f".//{word}pStyle").get(word + "val") == "Heading1"
    assert len(list(body.iter(word + "tc"))) == 2


def test_odt(tmp_path):
    source = made.odt(tmp_path / "a.odt")
    before, after = made.parts_of(source), made.parts_of(succeeds(source, tmp_path / "b.odt"))
    assert before.keys() == after.keys() and before["Pictures/a.png"] == after["Pictures/a.png"]
    content = after["content.xml"].decode()
    assert re.search(r"<text:h [^>]*>Mi casa</text:h>", content)
    assert re.search(r'<text:p>La casa <text:span text:style-name="T1">grande ?</text:span> ?es en el cerro\.</text:p>', content)


def test_pptx(tmp_path):
    source = made.pptx(tmp_path / "a.pptx")
    before, after = made.parts_of(source), made.parts_of(succeeds(source, tmp_path / "b.pptx"))
    assert before.keys() == after.keys() and before["ppt/media/image1.png"] == after["ppt/media/image1.png"]
    slide = after["ppt/slides/slide1.xml"]
    assert text_of(slide) == "La casa grande es en el cerro."
    assert re.search(rb'b="1"[^<]*/><a:t[^>]*>grande ?</a:t>', slide), slide


def test_xlsx(tmp_path):
    """Texts of cells and their formatting; not formulas, numbers, names of sheets, nor the head of a table, which Excel compares with the table's own name."""
    source = made.xlsx(tmp_path / "a.xlsx")
    before, after = made.parts_of(source), made.parts_of(succeeds(source, tmp_path / "b.xlsx"))
    assert before.keys() == after.keys()
    for part in before.keys() - {"xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"}:
        assert before[part] == after[part], part
    sheet = "{" + made.SHEET + "}"
    items = list(ET.fromstring(after["xl/sharedStrings.xml"]).iter(sheet + "si"))
    assert ["".join(t.text for t in item.iter(sheet + "t")) for item in items] == ["House", "El perro es aquí.", "La casa grande es aquí.", "4711"]
    assert [r.find(sheet + "t").text.strip() for r in items[2].iter(sheet + "r") if r.find(f"{sheet}rPr/{sheet}b") is not None] == ["grande"]
    cells = ET.fromstring(after["xl/worksheets/sheet1.xml"])
    assert cells.find(f".//{sheet}is/{sheet}t").text == "El gato"
    assert [f.text for f in cells.iter(sheet + "f")] == ["SUM(1,2)", '"The sun"']
    assert [v.text for v in cells.iter(sheet + "v")] == ["0", "3", "The sun"]


def test_xliff_12(tmp_path):
    source = tmp_path / "a.xlf"
    source.write_text(made.XLIFF12, encoding="utf-8")
    after = succeeds(source, tmp_path / "b.xlf").read_text(encoding="utf-8")
    units = dict(re.findall(r'<trans-unit id="(\d)".*?>(.*?)</trans-unit>', after, re.S))
    targets = {n: re.sub(r"^.*?<target[^>]*>(.*)</target>.*$", r"\1", u, flags=re.S) for n, u in units.items() if "<target" in u}
    assert targets["1"] == 'La casa <g id="1"><g id="2">verde</g> grande</g><x id="3"/> es <ph id="4">&lt;br/&gt;</ph>aquí.'
    assert "2" not in targets and targets["3"] == "El hogar"
    assert targets["4"] == '<mrk mtype="seg" mid="1">El perro.</mrk> <mrk mtype="seg" mid="2">El gato.</mrk>'
    assert '<mrk mtype="protected">Big House</mrk>' in targets["5"] and "verde" in targets["5"]
    assert 'target-language="es"' in after and 'state-qualifier="mt-suggestion"' in units["1"] and 'my:kept="yes"' in after
    # What is not a target is as it was.
    without = re.sub(r"<target state=\"needs-review-translation\"[^>]*>.*?</target>", "", after.replace(' target-language="es"', ""))
    assert ET.canonicalize(without) == ET.canonicalize(made.XLIFF12)


def test_xliff_20(tmp_path):
    source = tmp_path / "a.xliff"
    source.write_text(made.XLIFF20, encoding="utf-8")
    after = succeeds(source, tmp_path / "b.xliff").read_text(encoding="utf-8")
    assert '<target>La casa <pc id="1">verde</pc><ph id="2" dataRef="d1"/> es aquí.</target>' in after
    assert '<segment id="s1" state="translated">' in after and 'trgLang="es"' in after
    assert "<target>El can</target>" in after and after.count("<target>") == 2


def test_xliff_whose_language_is_another_than_the_job_says(tmp_path):
    source = tmp_path / "a.xlf"
    source.write_text(made.XLIFF12.replace("en-US", "de"), encoding="utf-8")
    assert "de" in fails("InputFileCannotBeTranslated", source, tmp_path / "b.xlf")


def test_another_pair_and_a_variant(tmp_path):
    source = tmp_path / "a.txt"
    source.write_text("El chico trabaja aquí.\n", encoding="utf-8")
    catalan = succeeds(source, tmp_path / "ca.txt", job=settings("es", "ca"))
    valencian = succeeds(source, tmp_path / "va.txt", job=settings("es-ES", "ca-valencia"))
    assert catalan.read_text(encoding="utf-8") == "El noi treballa aquí.\n"
    assert valencian.read_text(encoding="utf-8") == "El xic treballa ací.\n"


def test_text_in_other_encodings(tmp_path):
    source = tmp_path / "a.txt"
    source.write_bytes("The café is big.\n".encode("latin-1"))
    assert "cafetería es grande" in succeeds(source, tmp_path / "b.txt").read_text(encoding="utf-8")


def test_many_documents_on_two_slots_are_not_mixed_up(tmp_path):
    words = {"dog": "perro", "cat": "gato", "house": "casa", "tree": "árbol", "book": "libro", "door": "puerta"}
    documents = []
    for i, word in enumerate(list(words) * 3):
        source = tmp_path / f"{i}-{word}.txt"
        source.write_text(f"I see the {word}.\n\n" * (1 + i * 7))
        documents.append((source, tmp_path / f"{i}-{word}.out"))
    # No extension that says otherwise: the output is of the kind of the input.
    documents = [(s, t.with_suffix(".es.txt")) for s, t in documents]
    for result in translate(documents, "--slots", 2).values():
        assert result["error"] == 0, result
    for i, (source, target) in enumerate(documents):
        lines = [line for line in target.read_text(encoding="utf-8").splitlines() if line]
        assert len(lines) == 1 + i * 7 and all(words[source.stem.split("-")[1]] in line for line in lines)


@pytest.mark.parametrize("name, content, error", [
    ("empty.docx", b"", "InputFileCorrupt"),
    ("text.docx", b"This is no zip file at all.\n", "InputFileCorrupt"),
    ("random.bin", bytes((i * 73 + 41) % 256 for i in range(5000)), "InputFileTypeNotSupported"),
    ("cut.docx", None, "InputFileCorrupt"),
    ("page.pdf", b"%PDF-1.7\n", "InputFileTypeNotSupported"),
    ("wrong.xlf", b"<xlf>The house</xlf>", "InputFileCorrupt"),
    ("cut.xlf", made.XLIFF12.encode()[:700], "InputFileCorrupt"),
])
def test_damaged_documents_are_told_apart(tmp_path, name, content, error):
    source = tmp_path / name
    if content is None:
        content = made.docx(tmp_path / "whole.docx").read_bytes()[:900]
    source.write_bytes(content)
    fails(error, source, tmp_path / ("out" + source.suffix))


def test_a_document_with_a_password(tmp_path):
    source = made.odt(tmp_path / "a.odt")
    parts = made.parts_of(source)
    parts["META-INF/manifest.xml"] = parts["META-INF/manifest.xml"].replace(b"/></manifest:manifest>", b"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>")
    fails("InputFileEncrypted", made.package(tmp_path / "b.odt", parts), tmp_path / "c.odt")


def test_a_document_that_unpacks_without_end(tmp_path):
    source = made.docx(tmp_path / "a.docx", extra={f"word/media/{i}.bin": b"\0" * (64 << 20) for i in range(17)})
    assert source.stat().st_size < 2 << 20
    fails("UnpackedTooLarge", source, tmp_path / "b.docx")


def test_another_kind_of_output_is_refused(tmp_path):
    assert ".xlsx" in fails("OutputFormatNotSupported", made.xlsx(tmp_path / "a.xlsx"), tmp_path / "b.pdf")
