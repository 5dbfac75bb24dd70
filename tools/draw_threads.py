"""Draws docs/img/threads.svg: the threads of the server, from the two tables in docs/architecture.md, whose files
tools/check_readmes.py compares with the code. A box a thread: what it is called, its file, what it runs.

    draw_threads.py            writes the picture
    draw_threads.py --check    fails when it is stale
"""
import html
import re
import sys
import textwrap

import rooms

BOX, GAP, LINE, HEAD = 232, 16, 15, 30
ACROSS = 5                                # boxes beside each other
CHARACTERS = 37                           # of the small letters, in a box
WHO = {"stroke": "#1f6fb4", "fill": "#eaf2fa"}
PANEL = {"stroke": "#c3cad1", "fill": "#fafbfc"}


def panels():
    """(title, rows) of each group, from top to bottom: what serves all databases; the engine's threads, one kind or the other."""
    first, postgres = rooms.threads()
    sqlite = [row for row in first if row[1].startswith("engine/")]
    return (("The server", [row for row in first if row not in sqlite]),
            ("The SQLite engine, for each database", sqlite), ("The PostgreSQL engine, in their place", postgres))


def lines(row):
    """A box's lines as (text, size, colour)."""
    name, file, runs = (re.sub(r"[`]", "", part) for part in row)
    name, _, how_many = name.partition(" (")
    return [(name, 13, "#24292f"), (file, 11, "#1f6fb4"),
            *((part, 11, "#5b6770") for part in textwrap.wrap(how_many.rstrip(")"), CHARACTERS)),
            *((part, 11, "#24292f") for part in textwrap.wrap(runs, CHARACTERS))]


def text(x, y, words, size=13, colour="#24292f", more=""):
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}"{more}>{html.escape(words)}</text>'


def rect(x, y, width, height, stroke, fill):
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" fill="{fill}" stroke="{stroke}"/>'


def draw_panel(title, rows, top):
    """(the elements, where it ends)."""
    out, y = [text(2 * GAP, top + 21, title, 14)], top + HEAD
    for at in range(0, len(rows), ACROSS):
        boxes = [lines(row) for row in rows[at:at + ACROSS]]
        height = max(map(len, boxes)) * LINE + 14
        for i, box in enumerate(boxes):
            x = 2 * GAP + i * (BOX + GAP)
            out.append(rect(x, y, BOX, height, **WHO))
            out += [text(x + 8, y + 19 + n * LINE, *line) for n, line in enumerate(box)]
        y += height + GAP
    return [rect(GAP, top, ACROSS * (BOX + GAP) + GAP, y - top, **PANEL), *out], y


def arrow(x, y1, y2, words):
    tip = 6 if y2 > y1 else -6
    return [f'<path d="M{x} {y1}V{y2}M{x - 5} {y2 - tip}L{x} {y2}L{x + 5} {y2 - tip}" fill="none" stroke="#5b6770"/>',
            text(x + 12, (y1 + y2) // 2 + 4, words, 12, "#5b6770")]


def picture():
    width, top, out = ACROSS * (BOX + GAP) + 3 * GAP, GAP, []
    for n, (title, rows) in enumerate(panels()):
        drawn, bottom = draw_panel(title, rows, top)
        out += drawn
        if n == 0:                        # the seam: a call in, a completion out
            out += arrow(2 * GAP + 60, bottom + 4, bottom + 40, "calls: engine_submit()")
            out += arrow(2 * GAP + 2 * (BOX + GAP), bottom + 40, bottom + 4, "completions: complete(), then net_loop_post()")
        top = bottom + (44 if n == 0 else GAP)
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" font-family="sans-serif">',
                      "<title>The threads of the server</title>", '<rect width="100%" height="100%" fill="#ffffff"/>',
                      *out, "</svg>"]) + "\n"


if __name__ == "__main__":
    sys.exit(rooms.picture("threads.svg", picture()))
