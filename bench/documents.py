"""The 40 documents that the conversion is measured with: short letters, reports of 40 pages, tables, pictures. The same bytes each
time."""
import random
import sys

from daemons import BENCH

sys.path.insert(0, str(BENCH.parent / "tests"))
from support import documents as made  # noqa: E402

WORDS = ("procession", "document", "converted", "queue", "worker", "answer", "letter", "people", "morning", "between", "result", "paper",
         "and", "the", "of", "to", "with", "a", "in", "for")


def text(source, words):
    return " ".join(source.choice(WORDS) for _ in range(words)).capitalize() + "."


def letter(source):
    return made.docx("".join(made.paragraph(text(source, 60)) for _ in range(4)))


def long_report(source):
    page = lambda: "".join(made.paragraph(text(source, 90)) for _ in range(5))     # noqa: E731
    return made.docx(made.page_break().join(page() for _ in range(40)))


def tables(source):
    cell = lambda: f'<w:tc>{made.paragraph(text(source, 3))}</w:tc>'              # noqa: E731
    row = lambda: f'<w:tr>{"".join(cell() for _ in range(6))}</w:tr>'              # noqa: E731
    grid = '<w:tblGrid>' + '<w:gridCol w:w="1500"/>' * 6 + '</w:tblGrid>'
    return made.docx("".join(f'<w:tbl><w:tblPr/>{grid}{"".join(row() for _ in range(40))}</w:tbl>{made.paragraph("")}' for _ in range(3)))


def pictures(source):
    return made.docx("".join(made.paragraph(text(source, 40)) + made.picture(f"p{i}", centimetres=8) for i in range(4)),
                     parts={f"word/media/image{i}.png": made.png(400, 300, noise=True) for i in range(4)},
                     relations="".join(f'<Relationship Id="p{i}" Type="{made.R}/image" Target="media/image{i}.png"/>' for i in range(4)))


KINDS = {"short": (20, letter), "pages": (7, long_report), "tables": (7, tables), "pictures": (6, pictures)}


def write(folder):
    """kind → its files."""
    source, out = random.Random(16), {}
    for kind, (count, make) in KINDS.items():
        out[kind] = []
        for i in range(count):
            path = folder / f"{kind}-{i:02}.docx"
            path.write_bytes(make(source))
            out[kind].append(path)
    return out
