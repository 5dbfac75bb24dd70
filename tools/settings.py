"""The documents made of the tables of settings (settings.def of src/config, src/scheduler and src/worker): the tables of
docs/configuration.md and the sample packaging/processiond.ini. `settings.py write` renews them, `settings.py check` fails when
they are stale."""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRING = r'"((?:[^"\\]|\\.)*)"'
LINE = re.compile(r"^SETTING_(\w+)\((.*)\)$")
BEGIN, END = "<!-- generated from settings.def by tools/settings.py -->", "<!-- end of the generated part -->"
# The tables of the other programs: folder, heading.
OTHERS = [("scheduler", "The scheduler: section `[scheduler]`"), ("worker", "Workers: section `[worker]`")]


def read(folder, title=None):
    """[(title, [setting, …]), …] in the order of the table; title: of a table without groups."""
    groups = [(title, [])] if title else []
    for line in (ROOT / "src" / folder / "settings.def").read_text().splitlines():
        match = LINE.match(line)
        if not match or line.startswith("#"):
            continue
        kind, inside = match.groups()
        if kind == "GROUP":
            groups.append((re.findall(STRING, inside)[0], []))
            continue
        name = inside.split(",", 1)[0]
        strings = [s.replace('\\"', '"') for s in re.findall(STRING, inside)]
        setting = {"name": name, "kind": kind, "flag": strings[0], "def": strings[1], "help": strings[-1], "takes": "text"}
        if kind == "INT":
            low, high = re.search(r'",\s*(-?\d+),\s*(-?\d+),', inside).groups()
            setting["takes"] = f"{low} … {high} {strings[2]}"
        elif kind == "CHOICE":
            setting["takes"] = ", ".join(strings[2].split("|"))
        elif kind == "BOOL":
            setting["takes"] = "yes, no"
        groups[-1][1].append(setting)
    return groups


def markdown(groups):
    lines = [BEGIN]
    for title, settings in groups:
        lines += ["", f"## {title}", "", "| setting | flag | default | takes | what it does |", "| --- | --- | --- | --- | --- |"]
        for s in settings:
            default = f"`{s['def']}`" if s["def"] else ""
            flag = f"`{s['flag']}`".replace("|", chr(92) + "|") if s["flag"] else ""
            lines.append(f"| `{s['name']}` | {flag} | {default} | {s['takes']} | {s['help'].replace('|', chr(92) + '|')} |")
    return "\n".join(lines + ["", END])


def ini(groups):
    lines = ["# /etc/procession/processiond.ini: settings of processiond(8), one a line, here with their defaults.",
             "# A comment begins with # or ; and may follow a value after a blank and a semicolon.", "", "[processiond]"]
    for title, settings in groups:
        lines += ["", f"# {title}"]
        for s in settings:
            if s["name"] != "config":
                text = s["help"] + (f" ({s['takes']})" if s["takes"] != "text" else "")
                lines += textwrap.wrap(text, 100, initial_indent="# ", subsequent_indent="# ")
                lines.append(f"#{s['name']} = {s['def']}".rstrip())
    return "\n".join(lines) + "\n"


def outputs():
    groups = read("config")
    others = [group for folder, title in OTHERS for group in read(folder, title)]
    path = ROOT / "docs/configuration.md"
    text = path.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    return {path: before + markdown(groups + others) + after, ROOT / "packaging/processiond.ini": ini(groups)}


def main(mode):
    stale = 0
    for path, text in outputs().items():
        if path.exists() and path.read_text() == text:
            continue
        if mode == "write":
            path.write_text(text)
        else:
            stale = 1
            print(f"{path.relative_to(ROOT)} is stale: run tools/settings.py write")
    return stale


if __name__ == "__main__":
    if sys.argv[1:] not in (["write"], ["check"]):
        sys.exit("usage: settings.py write|check")
    sys.exit(main(sys.argv[1]))
