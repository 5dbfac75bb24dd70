"""What documents look like: a page is rendered by pdftoppm, and its picture, table and text are where the document has them."""
import re
import subprocess

import pytest

from support import documents as made
from support.converter import OK, Converter, tool

POINTS_A_CENTIMETRE = 72 / 2.54
RED, BLUE, GREEN, BLACK = "picture", "lines of the table", "cell", "text"


@pytest.fixture(scope="module")
def converter():
    with Converter(slots=1) as c:
        yield c


def document():
    """A line, a picture of 4 × 4 cm that goes from red to yellow, a table of 2 × 2 cells of 150 points with blue lines, the first cell green."""
    lines = "".join(f'<w:{side} w:val="single" w:sz="24" w:space="0" w:color="0000FF"/>' for side in ("top", "left", "bottom", "right", "insideH", "insideV"))

    def cell(text, fill=None):
        shade = f'<w:shd w:val="clear" w:color="auto" w:fill="{fill}"/>' if fill else ""
        return f'<w:tc><w:tcPr><w:tcW w:w="3000" w:type="dxa"/>{shade}</w:tcPr>{made.paragraph(text)}</w:tc>'

    row = '<w:tr><w:trPr><w:trHeight w:val="1000" w:hRule="exact"/></w:trPr>{}{}</w:tr>'
    table = (f'<w:tbl><w:tblPr><w:tblW w:w="6000" w:type="dxa"/><w:tblBorders>{lines}</w:tblBorders></w:tblPr><w:tblGrid><w:gridCol w:w="3000"/>'
             f'<w:gridCol w:w="3000"/></w:tblGrid>{row.format(cell("", "00B050"), cell("right"))}{row.format(cell("below"), cell(""))}</w:tbl>')
    return made.docx(made.paragraph("a line of text") + made.picture("p1") + table + made.paragraph(""),
                     parts={"word/media/image1.png": made.png(64, 64)},
                     relations=f'<Relationship Id="p1" Type="{made.R}/image" Target="media/image1.png"/>')


def is_near(pixel, colour, distance=40):
    return all(abs(a - b) <= distance for a, b in zip(pixel, colour))


KINDS = {
    RED: lambda p: is_near((p[0], p[2]), (200, 60)) and p[1] < 250,
    BLUE: lambda p: is_near(p, (0, 0, 255)),
    GREEN: lambda p: is_near(p, (0, 176, 80)),
    BLACK: lambda p: max(p) < 90,
}


class Page:
    """One page with a pixel a point: where which kind of ink is, (left, top, right, bottom) and how much of that is filled."""

    def __init__(self, path):
        tool("pdftoppm", "-v")      # skips where it is missing
        data = subprocess.run(["pdftoppm", "-r", "72", "-singlefile", path], check=True, capture_output=True, timeout=120).stdout
        head = re.match(rb"P6\s+(\d+)\s+(\d+)\s+255\s", data)
        self.width, self.height = int(head[1]), int(head[2])
        body = data[head.end():]
        found = {kind: [] for kind in KINDS}
        for at in range(0, 3 * self.width * self.height, 3):
            pixel = body[at:at + 3]
            if pixel != b"\xff\xff\xff":
                for kind, fits in KINDS.items():
                    if fits(pixel):
                        found[kind].append((at // 3 % self.width, at // 3 // self.width))
        self.points = found
        self.box = {kind: self.surround(points) for kind, points in found.items()}
        self.body = body

    @staticmethod
    def surround(points):
        xs, ys = [x for x, _ in points], [y for _, y in points]
        return (min(xs), min(ys), max(xs) + 1, max(ys) + 1) if points else None

    def pixel(self, x, y):
        at = 3 * (y * self.width + x)
        return tuple(self.body[at:at + 3])

    def size(self, kind):
        left, top, right, bottom = self.box[kind]
        return right - left, bottom - top

    def filled(self, kind):
        width, height = self.size(kind)
        return len(self.points[kind]) / width / height


@pytest.mark.parametrize("attempt", [1, 2], ids=["by the kit", "by soffice"])
def test_picture_table_and_text_are_where_they_belong(converter, tmp_path, attempt):
    result = converter.convert(tmp_path, "a.docx", document(), "a.pdf", attempt=attempt)
    assert result.error == OK, result
    page = Page(result.output)
    side = 4 * POINTS_A_CENTIMETRE
    assert all(abs(length - side) <= 3 for length in page.size(RED)) and page.filled(RED) > 0.95
    left, top, right, bottom = page.box[RED]
    assert page.pixel((left + right) // 2, top + 5)[1] < 40 and page.pixel((left + right) // 2, bottom - 6)[1] > 215       # not upside down
    x, y, x_end, y_end = page.box[BLUE]
    assert abs(x_end - x - 300) <= 8 and abs(y_end - y - 100) <= 10 and y >= bottom
    assert 0.03 < page.filled(BLUE) < 0.2       # lines, not an area
    cell_left, cell_top, cell_right, cell_bottom = page.box[GREEN]
    assert abs(cell_right - cell_left - 150) <= 8 and abs(cell_bottom - cell_top - 50) <= 8 and page.filled(GREEN) > 0.9
    assert (cell_left - x, cell_top - y) < (8, 8)
    line = [p for p in page.points[BLACK] if p[1] < top]
    words = [p for p in page.points[BLACK] if y < p[1] < y_end]
    middle = ((x + x_end) // 2, (y + y_end) // 2)
    assert len(line) > 30 and abs(Page.surround(line)[0] - left) <= 10
    assert {(px > middle[0], py > middle[1]) for px, py in words} == {(True, False), (False, True)}        # two cells have words


def test_both_ways_look_the_same(converter, tmp_path):
    pages = [Page(converter.convert(tmp_path, "a.docx", document(), f"{n}.pdf", attempt=n).output) for n in (1, 2)]
    first, second = pages
    assert (first.width, first.height) == (second.width, second.height)
    for kind in KINDS:
        assert all(abs(a - b) <= 1 for a, b in zip(first.box[kind], second.box[kind])), kind
        assert abs(len(first.points[kind]) - len(second.points[kind])) <= 0.02 * len(first.points[kind]) + 5, kind
