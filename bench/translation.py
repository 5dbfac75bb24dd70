"""Short documents translated by Apertium: the command that people use, once a document, beside the engine of `procession translate`."""
import json
import pathlib
import shutil
import subprocess
import time
import zipfile

DOCUMENTS = 20
SETTINGS = "<settings><SourceLanguage>en</SourceLanguage><TargetLanguage>es</TargetLanguage></settings>"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
SENTENCES = ("The house is on the hill and the door is open.", "My friend reads the book that I bought yesterday.",
             "We work every day in the new office of the company.", "The weather was good, but the children stayed at home.")


def make(path, seed):
    """A letter of twelve paragraphs with a bold word each."""
    body = ""
    for i in range(12):
        sentence = SENTENCES[(seed + i) % len(SENTENCES)]
        first, rest = sentence.split(" ", 1)
        body += (f'<w:p><w:r><w:t xml:space="preserve">{first} </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>{rest.split(" ", 1)[0]}</w:t></w:r>'
                 f'<w:r><w:t xml:space="preserve"> {rest.split(" ", 1)[1]} {SENTENCES[seed % 4]}</w:t></w:r></w:p>')
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("[Content_Types].xml", f'<?xml version="1.0"?><Types xmlns="{TYPES}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                   '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" '
                   'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>')
        z.writestr("_rels/.rels", f'<?xml version="1.0"?><Relationships xmlns="{RELATIONS}"><Relationship Id="r1" '
                   'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>')
        z.writestr("word/document.xml", f'<?xml version="1.0"?><w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>')


def measure(what, documents, run):
    """Documents a second; each must have come out."""
    begun = time.monotonic()
    run()
    seconds = time.monotonic() - begun
    for target in documents.values():
        if not zipfile.is_zipfile(target):
            raise RuntimeError(f"{what}: {target} is no document")
        target.unlink()
    return {"what": what, "documents": len(documents), "calls_per_s": len(documents) / seconds}


def by_command(documents):
    for source, target in documents.items():
        subprocess.run(["apertium", "-u", "-f", "docx", "eng-spa", source, target], check=True)


def by_engine(driver, documents, slots):
    words = [driver, "--slots", str(slots)]
    for source, target in documents.items():
        words += [SETTINGS, source, target]
    done = subprocess.run([str(w) for w in words], check=True, stdout=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        if json.loads(line)["error"] != 0:
            raise RuntimeError(line)


def scenario(bench):
    """Short docx translated by Apertium: its command once a document, and the engine of procession translate."""
    if shutil.which("apertium") is None or not pathlib.Path("/usr/share/apertium/modes/eng-spa.mode").exists():
        raise RuntimeError("apertium, transfuse and apertium-eng-spa are not installed: tools/setup.sh test")
    documents = {}
    for i in range(DOCUMENTS):
        source = bench.folder / f"{i}.docx"
        make(source, i)
        documents[source] = bench.folder / f"{i}.es.docx"
    driver = bench.tools / "translate-drive"
    runs = [lambda: measure("apertium, once a document", documents, lambda: by_command(documents))]
    for slots in (1, 2):
        runs.append(lambda slots=slots: measure(f"procession, slots: {slots}", documents, lambda: by_engine(driver, documents, slots)))
    bench.save("translate", bench.alternate(*runs, rounds=3))
