"""Draws what a command shows on a terminal as SVG, from a real run: draw_terminal.py OUT.svg 'prompt text' COMMAND…

The status line is drawn as it was about two thirds of the way, above what stands there at the end."""
import html
import os
import pathlib
import pty
import re
import select
import sys

COLUMNS, LINE, WIDTH = 100, 18, 7.85


def run(command):
    """All that it wrote."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm", COLUMNS=str(COLUMNS))
        os.execvp(command[0], command)
    import fcntl
    import struct
    import termios
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    out = b""
    while True:
        select.select([fd], [], [])
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    os.waitpid(pid, 0)
    return out.decode("utf-8", "replace")


def screen(text):
    """Lines: a status line of the middle, then the end. A carriage return with an erase begins a line anew."""
    lines, status = [], []
    for line in text.replace("\r\n", "\n").split("\n"):
        states = [s for s in re.split(r"\r\x1b\[K", line)]
        status += [s for s in states[:-1] if s]
        lines.append(re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", states[-1]))
    while lines and not lines[-1]:
        lines.pop()
    middle = [status[len(status) * 2 // 3]] if status else []
    return middle + lines


def draw(prompt, lines):
    rows = ["$ " + prompt, *(line[:COLUMNS] for line in lines)]
    width, height = int(max(map(len, rows)) * WIDTH) + 32, len(rows) * LINE + 30
    body = "".join(f'<text x="16" y="{28 + i * LINE}" xml:space="preserve" fill="{"#9ecbff" if i == 0 else "#e6edf3"}">{html.escape(row)}</text>'
                   for i, row in enumerate(rows))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
            f'<title>{html.escape(prompt)}</title><rect width="100%" height="100%" rx="6" fill="#0d1117"/>'
            f'<g font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="13">{body}</g></svg>\n')


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[1]).write_text(draw(sys.argv[2], screen(run(sys.argv[3:]))), encoding="utf-8")
