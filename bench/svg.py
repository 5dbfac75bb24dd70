"""Plots as SVG text: lines over the number of connections, and bars. No libraries."""
import html

COLOURS = ("#1f6fb4", "#d1602b", "#3a9a4b", "#8757b2", "#b5892a", "#5b6770", "#c2417b", "#2aa0a4")
FONT = 'font-family="sans-serif" font-size="12"'


def text(x, y, s, anchor="start", more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" {FONT} fill="#24292f" {more}>{html.escape(str(s))}</text>'


def short(v):
    for limit, unit in ((1e6, "M"), (1e3, "k")):
        if v >= limit:
            return f"{v / limit:.3g}{unit}"
    return f"{v:.3g}"


def frame(width, height, title, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
            f'<title>{html.escape(title)}</title><rect width="100%" height="100%" fill="#ffffff"/>'
            + text(16, 22, title, more='font-weight="bold"') + "".join(body) + "</svg>\n")


def decades(low, high):
    """The powers of ten around the values."""
    first, last = 1.0, 1.0
    while first > low:
        first /= 10
    while first * 10 <= low:
        first *= 10
    last = first * 10
    while last < high:
        last *= 10
    return first, last


def lines(title, series, ylabel):
    """series: {name: [(x, y), …]}; both axes logarithmic."""
    from math import log10
    xs = sorted({x for points in series.values() for x, _ in points})
    ys = [y for points in series.values() for _, y in points if y > 0]
    if not xs or not ys:
        return None
    width, height, left, right, top, bottom = 720, 360, 64, 190, 40, 44
    low, high = decades(min(ys), max(ys))

    def px(x):
        return left + (width - left - right) * (log10(x) - log10(xs[0])) / max(log10(xs[-1]) - log10(xs[0]), 1e-9)

    def py(y):
        return height - bottom - (height - top - bottom) * (log10(y) - log10(low)) / (log10(high) - log10(low))
    body = []
    tick = low
    while tick <= high * 1.001:
        body.append(f'<line x1="{left}" x2="{width - right}" y1="{py(tick):.1f}" y2="{py(tick):.1f}" stroke="#d8dee4"/>')
        body.append(text(left - 6, py(tick) + 4, short(tick), "end"))
        tick *= 10
    for x in xs:
        body.append(text(px(x), height - bottom + 16, f"{x:,}", "middle"))
    body.append(text((left + width - right) / 2, height - 10, "connections", "middle"))
    body.append(text(left, top - 4, ylabel))
    for i, (name, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        points = sorted(p for p in points if p[1] > 0)
        path = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in points)
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        body += [f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        body.append(f'<rect x="{width - right + 14}" y="{top + 18 * i}" width="12" height="4" fill="{colour}"/>')
        body.append(text(width - right + 32, top + 18 * i + 6, name))
    return frame(width, height, title, body)


def bars(title, groups, unit):
    """groups: {group: {name: value}}; one scale for each group, because the groups differ by much."""
    names = list(dict.fromkeys(n for g in groups.values() for n in g))
    rows = sum(len(g) for g in groups.values())
    width, left, right, step = 720, 250, 90, 18
    height = 40 + rows * step + len(groups) * 10 + 12
    y, body = 40, []
    for group, values in groups.items():
        top = max(values.values(), default=0) or 1
        for i, (name, value) in enumerate(values.items()):
            if i == 0:
                body.append(text(12, y + 12, group, more='font-weight="bold"'))
            body.append(text(left - 8, y + 12, name, "end"))
            length = (width - left - right) * value / top
            body.append(f'<rect x="{left}" y="{y + 2}" width="{length:.1f}" height="{step - 5}" fill="{COLOURS[names.index(name) % len(COLOURS)]}"/>')
            body.append(text(left + length + 6, y + 12, short(value) + unit))
            y += step
        y += 10
    return frame(width, height, title, body)
