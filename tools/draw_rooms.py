"""Draws docs/img/rooms.svg: the folders of src/ and which may include which, from the table in docs/architecture.md that
tools/check_includes.py compares with the #include lines. So the picture is as true as the table.

    draw_rooms.py            writes the picture
    draw_rooms.py --check    fails when it is stale
"""
import html
import sys

import rooms as rooms_table

BOX, HIGH, GAP, STEP = 156, 34, 22, 84


def table():
    """folder → the folders that it may include, base apart: everybody may."""
    return {name: uses for name, (_, uses) in rooms_table.read().items()}


def reach(rooms, name, seen):
    for other in rooms[name]:
        if other not in seen:
            seen.add(other)
            reach(rooms, other, seen)
    return seen


def direct(rooms, name):
    """What is not reached through another one: the arrows that are worth drawing."""
    return {o for o in rooms[name] if not any(o in reach(rooms, p, set()) for p in rooms[name] - {o})}


def levels(rooms):
    """How far above the ground each one is: above all that it includes."""
    depth = {}

    def of(name):
        if name not in depth:
            depth[name] = 1 + max((of(o) for o in rooms[name]), default=0)
        return depth[name]
    for name in rooms:
        of(name)
    return depth


def places(rooms):
    depth = levels(rooms)
    top, where = max(depth.values()), {}
    rows = {d: [n for n in rooms if depth[n] == d and n != "base"] for d in set(depth.values())}
    width = max(len(r) for r in rows.values()) * (BOX + GAP) + GAP
    for d, names in rows.items():
        left = (width - len(names) * (BOX + GAP) + GAP) / 2
        for i, name in enumerate(names):
            where[name] = (left + i * (BOX + GAP), 20 + (top - d) * STEP)
    return where, width, 20 + (top - 1) * STEP + HIGH


def picture():
    rooms = table()
    where, width, bottom = places(rooms)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {bottom + 70:.0f}" font-family="sans-serif" font-size="13">',
           "<title>The folders of src/ and which may include which</title>", '<rect width="100%" height="100%" fill="#ffffff"/>']
    for name, (x, y) in where.items():
        for other in sorted(direct(rooms, name) - {"base"}):
            x2, y2 = where[other]
            out.append(f'<line x1="{x + BOX / 2:.0f}" y1="{y + HIGH:.0f}" x2="{x2 + BOX / 2:.0f}" y2="{y2:.0f}" stroke="#9aa4ad"/>')
    for name, (x, y) in where.items():
        out.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{BOX}" height="{HIGH}" rx="4" fill="#eaf2fa" stroke="#1f6fb4"/>')
        out.append(f'<text x="{x + BOX / 2:.0f}" y="{y + HIGH / 2 + 5:.0f}" text-anchor="middle" fill="#24292f">{html.escape(name)}</text>')
    out.append(f'<rect x="{GAP}" y="{bottom + 22:.0f}" width="{width - 2 * GAP:.0f}" height="{HIGH}" rx="4" fill="#f2f3f4" stroke="#5b6770"/>')
    out.append(f'<text x="{width / 2:.0f}" y="{bottom + 22 + HIGH / 2 + 5:.0f}" text-anchor="middle" fill="#24292f">base: used by all</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


if __name__ == "__main__":
    sys.exit(rooms_table.picture("rooms.svg", picture()))
