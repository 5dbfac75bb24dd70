"""Documents made by the tests: whole ones, of several formats, and those that should not exist."""
import io
import struct
import zipfile
import zlib

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml."
MAIN = {
    "docx": WORD + "document.main+xml",
    "dotx": WORD + "template.main+xml",
    "docm": "application/vnd.ms-word.document.macroEnabled.main+xml",
    "dotm": "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
}


def paragraph(text, properties=""):
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def page_break():
    return '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'


def docx(body, kind="docx", parts=None, relations="", overrides="", level=zipfile.ZIP_DEFLATED):
    """An Open XML document as bytes. parts: further files; relations: further Relationship elements of the document."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", level) as z:
        z.writestr("[Content_Types].xml",
                   f'<?xml version="1.0" encoding="UTF-8"?><Types xmlns="{PACKAGE}/content-types">'
                   f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                   f'<Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/>'
                   f'<Override PartName="/word/document.xml" ContentType="{MAIN[kind]}"/>{overrides}</Types>')
        z.writestr("_rels/.rels",
                   f'<?xml version="1.0"?><Relationships xmlns="{PACKAGE}/relationships">'
                   f'<Relationship Id="r1" Type="{R}/officeDocument" Target="word/document.xml"/></Relationships>')
        z.writestr("word/_rels/document.xml.rels",
                   f'<?xml version="1.0"?><Relationships xmlns="{PACKAGE}/relationships">{relations}</Relationships>')
        z.writestr("word/document.xml",
                   f'<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="{W}" xmlns:r="{R}" '
                   'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
                   'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
                   'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture">'
                   f'<w:body>{body}</w:body></w:document>')
        for name, content in (parts or {}).items():
            z.writestr(name, content)
    return out.getvalue()


def png(width=32, height=32, noise=False):
    """A picture; with noise one that does not get smaller by packing."""
    import random
    source = random.Random(1)
    rows = b"".join(b"\0" + (source.randbytes(3 * width) if noise else bytes((200, y * 255 // height, 60)) * width)
                    for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def picture(relation, linked=False, centimetres=4):
    """A paragraph with a picture: stored in the package, or linked."""
    size = centimetres * 360000
    how = "r:link" if linked else "r:embed"
    return (f'<w:p><w:r><w:drawing><wp:inline><wp:extent cx="{size}" cy="{size}"/><wp:docPr id="1" name="p"/><a:graphic>'
            '<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr>'
            '<pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr>'
            f'<pic:blipFill><a:blip {how}="{relation}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm>'
            f'<a:off x="0" y="0"/><a:ext cx="{size}" cy="{size}"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom>'
            '</pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>')


def docx_with_picture(text, noise=False, size=32):
    return docx(paragraph(text) + picture("p1"), parts={"word/media/image1.png": png(size, size, noise)},
                relations=f'<Relationship Id="p1" Type="{R}/image" Target="media/image1.png"/>')


def protection(kind):
    """Arguments of docx: the document is protected, so that only this may be done to it: readOnly, trackedChanges …"""
    return {"parts": {"word/settings.xml": f'<?xml version="1.0"?><w:settings xmlns:w="{W}"><w:documentProtection w:edit="{kind}" '
                                           'w:enforcement="1"/></w:settings>'},
            "relations": f'<Relationship Id="p9" Type="{R}/settings" Target="settings.xml"/>',
            "overrides": f'<Override PartName="/word/settings.xml" ContentType="{WORD}settings+xml"/>'}


def docm(text, streams, kind="docm"):
    """A document with macros: the streams of its VBA project."""
    project = "http://schemas.microsoft.com/office/2006/relationships/vbaProject"
    return docx(paragraph(text), kind, parts={"word/vbaProject.bin": compound(streams)},
                relations=f'<Relationship Id="v1" Type="{project}" Target="vbaProject.bin"/>',
                overrides='<Override PartName="/word/vbaProject.bin" ContentType="application/vnd.ms-office.vbaProject"/>')


def docx_with_changes(**more):
    """keep, inserted, deleted, end."""
    who = 'w:author="A" w:date="2020-01-01T00:00:00Z"'
    return docx(f'<w:p><w:r><w:t xml:space="preserve">keep </w:t></w:r><w:ins w:id="1" {who}><w:r>'
                f'<w:t xml:space="preserve">inserted </w:t></w:r></w:ins><w:del w:id="2" {who}><w:r>'
                '<w:delText xml:space="preserve">deleted </w:delText></w:r></w:del><w:r><w:t>end</w:t></w:r></w:p>', **more)


def docx_with_comment(text, comment):
    return docx(f'<w:p><w:commentRangeStart w:id="0"/><w:r><w:t>{text}</w:t></w:r><w:commentRangeEnd w:id="0"/>'
                '<w:r><w:commentReference w:id="0"/></w:r></w:p>',
                parts={"word/comments.xml": f'<?xml version="1.0"?><w:comments xmlns:w="{W}"><w:comment w:id="0" w:author="A" '
                                            f'w:date="2020-01-01T00:00:00Z">{paragraph(comment)}</w:comment></w:comments>'},
                relations=f'<Relationship Id="c1" Type="{R}/comments" Target="comments.xml"/>',
                overrides=f'<Override PartName="/word/comments.xml" ContentType="{WORD}comments+xml"/>')


def docx_with_contents(protected=None):
    """A table of contents that is out of date: it says 'stale entry', and the heading is 'fresh heading'."""
    style = (f'<?xml version="1.0"?><w:styles xmlns:w="{W}"><w:style w:type="paragraph" w:styleId="Heading1">'
             '<w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style></w:styles>')
    field = ('<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> TOC \\o "1-3" </w:instrText></w:r>'
             '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>stale entry</w:t></w:r></w:p>'
             '<w:p><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>')
    more = protection(protected) if protected else {"parts": {}, "relations": "", "overrides": ""}
    return docx(field + page_break() + paragraph("fresh heading", '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'),
                parts={"word/styles.xml": style, **more["parts"]},
                relations=f'<Relationship Id="s1" Type="{R}/styles" Target="styles.xml"/>' + more["relations"],
                overrides=f'<Override PartName="/word/styles.xml" ContentType="{WORD}styles+xml"/>' + more["overrides"])


def odt(body, kind="text", manifest_extra="", parts=None, scripts=""):
    """An OpenDocument text as bytes."""
    listed = "".join(f'<manifest:file-entry manifest:full-path="{name}" manifest:media-type="text/xml"/>' for name in parts or {})
    ns = ('xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
          'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" '
          'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" '
          'xmlns:script="urn:oasis:names:tc:opendocument:xmlns:script:1.0" xmlns:dom="http://www.w3.org/2001/xml-events" xmlns:ooo="http://openoffice.org/2004/office"')
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}", zipfile.ZIP_STORED)
        z.writestr("content.xml", f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {ns} office:version="1.2">{scripts}'
                                  f'<office:body><office:text>{body}</office:text></office:body></office:document-content>')
        z.writestr("META-INF/manifest.xml",
                   '<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
                   f'<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.{kind}"/>'
                   f'<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml">{manifest_extra}'
                   f'</manifest:file-entry>{listed}</manifest:manifest>')
        for name, content in (parts or {}).items():
            z.writestr(name, content)
    return out.getvalue()


ENCRYPTED_ENTRY = ('<manifest:encryption-data manifest:checksum-type="SHA1/1K" manifest:checksum="AA=="><manifest:algorithm '
                   'manifest:algorithm-name="Blowfish CFB" manifest:initialisation-vector="AA=="/></manifest:encryption-data>')


def odt_with_macro(path):
    """Writes to the path as soon as it is opened, where macros are run."""
    library = ('<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE script:module PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" '
               '"module.dtd"><script:module xmlns:script="http://openoffice.org/2000/script" script:name="M" script:language="StarBasic">'
               f'Sub Go\nDim n\nn = FreeFile\nOpen "{path}" For Output As #n\nPrint #n, "ran"\nClose #n\nEnd Sub</script:module>')
    return odt('<text:p>with a macro</text:p>',
               scripts='<office:scripts><office:event-listeners>' + "".join(
                   f'<script:event-listener script:language="ooo:script" script:event-name="{event}" xlink:type="simple" '
                   'xlink:href="vnd.sun.star.script:Standard.M.Go?language=Basic&amp;location=document"/>'
                   for event in ("dom:load", "dom:unload", "office:load-finished", "office:view-created", "office:print", "office:copy-to",
                                 "office:copy-to-done", "office:page-count-changed")) + '</office:event-listeners></office:scripts>',
               parts={"Basic/script-lc.xml": '<?xml version="1.0" encoding="UTF-8"?><library:libraries '
                                             'xmlns:library="http://openoffice.org/2000/library" '
                                             'xmlns:xlink="http://www.w3.org/1999/xlink"><library:library library:name="Standard" '
                                             'library:link="false"/></library:libraries>',
                      "Basic/Standard/script-lb.xml": '<?xml version="1.0" encoding="UTF-8"?><library:library '
                                                      'xmlns:library="http://openoffice.org/2000/library" library:name="Standard" '
                                                      'library:readonly="false" library:passwordprotected="false">'
                                                      '<library:element library:name="M"/></library:library>',
                      "Basic/Standard/M.xml": library})


def compound(streams):
    """A compound file ([MS-CFB]) with these streams of at least 4,096 bytes each."""
    free, end, fat_mark = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    entries = [("Root Entry", 5, end, 0)]
    fat, body, at = [fat_mark, end], b"", 2
    for name, data in streams.items():
        data = data.ljust(4096, b"\0")
        data += b"\0" * (-len(data) % 512)
        n = len(data) // 512
        entries.append((name, 2, at, len(data)))
        fat += list(range(at + 1, at + n)) + [end]
        body += data
        at += n
    directory = b""
    for i, (name, kind, start, size) in enumerate(entries):
        text = (name + "\0").encode("utf-16-le")
        child = 1 if i == 0 and len(entries) > 1 else free
        right = i + 1 if 0 < i < len(entries) - 1 else free
        directory += (text.ljust(64, b"\0") + struct.pack("<HBBIII", len(text), kind, 1, free, right, child) + b"\0" * 36 +
                      struct.pack("<IQ", start, size))
    directory = directory.ljust(512, b"\0")
    assert len(fat) <= 128 and len(directory) == 512
    table = struct.pack("<128I", *(fat + [free] * (128 - len(fat))))
    head = (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + b"\0" * 16 + struct.pack("<HHHHH", 62, 3, 0xFFFE, 9, 6) + b"\0" * 6 +
            struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, end, 0, end, 0) + struct.pack("<109I", 0, *([free] * 108)))
    return head + table + directory + body


def nested_tables(depth):
    """A table in a table in a table…: LibreOffice takes practically for ever to lay them out."""
    start = ('<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w="9000"/></w:tblGrid><w:tr><w:tc>')
    return docx(start * depth + "<w:p/>" + "</w:tc></w:tr></w:tbl><w:p/>" * depth)


def endless(paragraphs=400000):
    """Many pages of short paragraphs in few bytes: far more work than anybody waits for."""
    return docx("<w:p><w:r><w:t>again and again</w:t></w:r></w:p>" * paragraphs)
