"""The reviewed list of breakages that change nothing a client could see: tools/mutate.equivalent.

    state/proc_AddItem [2]      which procedure; a number when the same lines occur more than once in its file
    - old line                  as the tool shows the mutant
    + new line
    = why no test can notice it

Blocks are separated by blank lines; lines that begin with # are comments.
"""


class ListError(Exception):
    pass


def read(path):
    """{key of a mutant: reason}"""
    out = {}
    try:
        with open(path, encoding="utf-8") as f:
            text = f.read()
    except OSError:
        return out
    number = 0
    for block in text.split("\n\n"):
        first = number + 1
        number += block.count("\n") + 2
        lines = [l for l in block.split("\n") if l.strip() and not l.startswith("#")]
        if not lines:
            continue
        name, _, occurrence = lines[0].strip().partition(" ")
        removed = tuple(l[1:].strip() for l in lines[1:] if l[0] == "-")
        added = tuple(l[1:].strip() for l in lines[1:] if l[0] == "+")
        reason = " ".join(l[1:].strip() for l in lines[1:] if l[0] == "=")
        if not reason or not (removed or added) or any(l[0] not in "-+=" for l in lines[1:]):
            raise ListError(f"{path}:{first}: a block reads: procedure, '-' lines, '+' lines, '=' reason")
        key = (name, removed, added, int(occurrence) if occurrence else 1)
        if key in out:
            raise ListError(f"{path}:{first}: this breakage is listed twice")
        out[key] = reason
    return out
