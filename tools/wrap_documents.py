"""Breaks the lines of paragraphs and list items in documents that are wider than 100 columns; what fits stays as it is. Tables, code,
headings, links and what a program has written are left alone. `make format` runs it; check_text.py says what it would change.

    tools/wrap_documents.py
"""
import pathlib
import re
import sys
import textwrap

import check_text

ITEM = re.compile(r"^(\s*)(?:[-*+]|\d+\.)\s+")
BLOCKS = ("|", "#", "<", "```", ">", "![")
GENERATED = re.compile(r"<!-- (generated|end of the generated)")


def is_wide(line):
    return check_text.width(line) > check_text.PROSE and not check_text.UNBROKEN.match(line)


def wrapped(block):
    """The lines of a paragraph or an item anew; the same when that would make something else of it."""
    item = ITEM.match(block[0])
    first = item[0] if item else re.match(r"\s*", block[0])[0]
    others = re.match(r"\s*", block[1])[0] if len(block) > 1 else " " * len(first)
    text = " ".join(line.strip() for line in [block[0][len(first):], *block[1:]])
    lines = textwrap.wrap(text, check_text.PROSE, initial_indent=first, subsequent_indent=others, break_long_words=False,
                          break_on_hyphens=False)
    changed = any(ITEM.match(line) or line.lstrip().startswith(BLOCKS) for line in lines[1:])
    return block if changed or any(line.endswith("  ") for line in block[:-1]) else lines


def blocks(lines):
    """(may be wrapped, lines): what is to be left alone line by line, paragraphs and items as a whole."""
    fence = generated = False
    block = []
    for line in lines:
        mark = GENERATED.search(line)
        fence ^= line.lstrip().startswith("```")
        generated = mark[1] == "generated" if mark else generated
        alone = fence or generated or not line.strip() or line.lstrip().startswith(BLOCKS)
        if block and (alone or ITEM.match(line)):
            yield True, block
            block = []
        if alone:
            yield False, [line]
        else:
            block.append(line)
    if block:
        yield True, block


def main():
    for path in check_text.documents():
        lines = path.read_text().split("\n")
        made = [line for text, block in blocks(lines) for line in (wrapped(block) if text and any(map(is_wide, block)) else block)]
        if made != lines:
            path.write_text("\n".join(made))
    return 0


if __name__ == "__main__":
    sys.exit(main())
