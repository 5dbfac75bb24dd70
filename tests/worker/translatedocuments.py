"""Small documents of every kind that can be translated, made by hand so that a test knows each byte of them."""
import zipfile

SENTENCE = "The house is on the hill."
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
PICTURE = bytes(range(256)) * 20


def package(path, parts):
    """A zip file; parts are written in their order, `mimetype` unpacked as OpenDocument wants it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in parts.items():
            made.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED)
    return path


def parts_of(path):
    with zipfile.ZipFile(path) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name) for name in opened.namelist()}


def office(main, content_type, others):
    return {
        "[Content_Types].xml": '<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
        f'<Default Extension="png" ContentType="image/png"/><Override PartName="/{main}" ContentType="{content_type}"/></Types>',
        "_rels/.rels": '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
        f'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="{main}"/></Relationships>',
        **others,
    }


def run(text, properties=""):
    return f'<w:r>{f"<w:rPr>{properties}</w:rPr>" if properties else ""}<w:t xml:space="preserve">{text}</w:t></w:r>'


def docx(path, paragraphs=None, extra=None):
    body = paragraphs or [
        f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>{run("My house")}</w:p>',
        f'<w:p>{run("The ")}{run("big", "<w:b/>")}{run(" house is on the hill.")}</w:p>',
        f'<w:tbl><w:tr><w:tc><w:p>{run("The dog")}</w:p></w:tc><w:tc><w:p>{run("42")}</w:p></w:tc></w:tr></w:tbl>',
    ]
    return package(path, office("word/document.xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml", {
        "word/document.xml": f'<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="{WORD}"><w:body>{"".join(body)}<w:sectPr/></w:body></w:document>',
        "word/media/image1.png": PICTURE, **(extra or {})}))


def odt(path):
    names = "office text style".split()
    spaces = " ".join(f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in names)
    return package(path, {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "META-INF/manifest.xml": '<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        '<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/></manifest:manifest>',
        "content.xml": f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces}><office:body><office:text><text:h text:outline-level="1">My house</text:h>'
        '<text:p>The <text:span text:style-name="T1">big</text:span> house is on the hill.</text:p></office:text></office:body></office:document-content>',
        "styles.xml": f'<?xml version="1.0" encoding="UTF-8"?><office:document-styles {spaces}><office:styles/></office:document-styles>',
        "Pictures/a.png": PICTURE})


def pptx(path):
    slide = (f'<?xml version="1.0" encoding="UTF-8"?><p:sld xmlns:p="{SLIDE}" xmlns:a="{DRAWING}"><p:cSld><p:spTree><p:sp><p:txBody><a:bodyPr/><a:p><a:r><a:t>The </a:t></a:r>'
             '<a:r><a:rPr b="1"/><a:t>big</a:t></a:r><a:r><a:t> house is on the hill.</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>')
    return package(path, office("ppt/presentation.xml", "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml", {
        "ppt/presentation.xml": f'<?xml version="1.0" encoding="UTF-8"?><p:presentation xmlns:p="{SLIDE}"/>', "ppt/slides/slide1.xml": slide, "ppt/media/image1.png": PICTURE}))


def xlsx(path):
    strings = (f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><sst xmlns="{SHEET}" count="4" uniqueCount="4"><si><t>House</t></si><si><t>The dog is here.</t></si>'
               '<si><r><t xml:space="preserve">The </t></r><r><rPr><b/><sz val="11"/></rPr><t>big</t></r><r><t xml:space="preserve"> house is here.</t></r></si><si><t>4711</t></si></sst>')
    sheet = (f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><worksheet xmlns="{SHEET}"><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is>'
             '<t>The cat</t></is></c><c r="C1"><f>SUM(1,2)</f><v>3</v></c><c r="D1" t="str"><f>"The sun"</f><v>The sun</v></c></row></sheetData></worksheet>')
    return package(path, office("xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml", {
        "xl/workbook.xml": f'<?xml version="1.0"?><workbook xmlns="{SHEET}"><sheets><sheet name="House" sheetId="1"/></sheets></workbook>',
        "xl/worksheets/sheet1.xml": sheet, "xl/sharedStrings.xml": strings,
        "xl/tables/table1.xml": f'<?xml version="1.0"?><table xmlns="{SHEET}" id="1" name="T" displayName="T" ref="A1:A2"><tableColumns><tableColumn id="1" name="House"/></tableColumns></table>',
        "xl/media/image1.png": PICTURE}))


def html(path):
    path.write_text('<!DOCTYPE html><html><head><title>My house</title><style>p { color: red }</style></head><body class="x"><h1 id="top">My house</h1>'
                    '<p>The <b>big</b> house is on the <a href="http://example.invalid/?a=1&amp;b=2">hill</a>.</p><pre><code>if (house) { stay }</code></pre>'
                    '<img src="house.png" alt=""><ul><li>The dog</li></ul></body></html>', encoding="utf-8")
    return path


def txt(path):
    path.write_text("The house is on the hill.\n\nMy dog is big.\n", encoding="utf-8")
    return path


XLIFF12 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2" xmlns:my="urn:my">
 <file source-language="en-US" datatype="plaintext" original="a.txt" my:kept="yes">
  <header><note>Not translated.</note></header>
  <body>
   <trans-unit id="1"><source>The <g id="1">big <g id="2">green</g></g> house<x id="3"/> is <ph id="4">&lt;br/&gt;</ph>here.</source></trans-unit>
   <trans-unit id="2" translate="no"><source>The name stays</source></trans-unit>
   <trans-unit id="3"><source>The house</source><target state="final">El hogar</target></trans-unit>
   <trans-unit id="4"><source>The dog. The cat.</source><seg-source><mrk mtype="seg" mid="1">The dog.</mrk> <mrk mtype="seg" mid="2">The cat.</mrk></seg-source></trans-unit>
   <trans-unit id="5"><source>My <mrk mtype="protected">Big House</mrk> is green.</source></trans-unit>
  </body>
 </file>
</xliff>
"""
XLIFF20 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en">
 <file id="f1">
  <unit id="u1"><originalData><data id="d1">&lt;br&gt;</data></originalData>
   <segment id="s1"><source>The <pc id="1">green</pc> house<ph id="2" dataRef="d1"/> is here.</source></segment>
   <ignorable><source> </source></ignorable>
   <segment id="s2" state="final"><source>The dog</source><target>El can</target></segment>
  </unit>
  <unit id="u2" translate="no"><segment><source>The name stays</source></segment></unit>
 </file>
</xliff>
"""
