"""Ten years, day by day: the C function against a list of all begin instants that Python's own calendar makes.

    years.py ANSWER     (the program made of answer.c)

The list is made by walking over every day and asking of it whether an occurrence begins on it, which is nothing like the arithmetic in C.
"""
import bisect
import calendar
import datetime
import random
import subprocess
import sys

EPOCH = datetime.datetime(1900, 1, 1)
FIRST, LAST = datetime.datetime(2023, 12, 25), datetime.datetime(2034, 3, 1)
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]        # datetime's order
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
SECOND = datetime.timedelta(seconds=1)


def ticks(moment):
    delta = moment - EPOCH
    return (delta.days * 86400 + delta.seconds) * 300 + delta.microseconds * 3 // 10000


def hms(text):
    h, m, s = map(int, text.split(":"))
    return datetime.time(h, m, s)


def falls_on(day, date):
    """Whether the date of a recurrence means this day: itself, or the last day of a month that is too short."""
    last = calendar.monthrange(day.year, day.month)[1]
    return day.day == date or (day.day == last and date > last)


def moments(kind, point):
    """Every instant of a point, by looking at every day."""
    words = point.split()
    for n in range((LAST - FIRST).days):
        day = (FIRST + datetime.timedelta(days=n)).date()
        if kind == "hourly":
            for hour in range(24):
                yield datetime.datetime.combine(day, datetime.time(hour, int(point)))
        elif kind == "daily":
            yield datetime.datetime.combine(day, hms(point))
        elif kind == "weekly":
            if DAYS[day.weekday()].startswith(words[0]):
                yield datetime.datetime.combine(day, hms(words[1]))
        elif kind == "monthly":
            if falls_on(day, int(words[0])):
                yield datetime.datetime.combine(day, hms(words[1]))
        elif MONTHS[day.month - 1] == words[0] and falls_on(day, int(words[1])):
            yield datetime.datetime.combine(day, hms(words[2]))


def window_end(kind, begin, ends, a, b, begins):
    """The next end point that belongs to the window; ends is the list of all instants of B."""
    if a == b:
        return begin
    i = bisect.bisect_left(ends, begin)
    end = ends[i]
    following = begins[bisect.bisect_right(begins, begin)]
    if kind in ("monthly", "yearly"):
        # Written later in the period than A: it must lie in the same month or year, or the window is an instant.
        order = (lambda p: (int(p.split()[0]), p.split()[1])) if kind == "monthly" else \
            (lambda p: (MONTHS.index(p.split()[0]), int(p.split()[1]), p.split()[2]))
        period = (lambda t: (t.year, t.month)) if kind == "monthly" else (lambda t: t.year)
        if order(b) >= order(a):
            if period(end) != period(begin):
                return begin
        elif period(end) == period(begin):
            end = ends[i + 1]
    return max(begin, following - SECOND) if end >= following else end


def calendar_cases():
    def point(kind, rng):
        time = f"{rng.choice([0, 1, 22, 23, rng.randrange(24)]):02}:{rng.choice([0, 59, rng.randrange(60)]):02}:{rng.choice([0, 59, rng.randrange(60)]):02}"
        if kind == "hourly":
            return f"{rng.randrange(60):02}"
        if kind == "daily":
            return time
        if kind == "weekly":
            day = rng.choice(DAYS)
            return f"{rng.choice([day, day[:2]])} {time}"
        date = f"{rng.choice([1, 2, 15, 27, 28, 29, 30, 31]):02} {time}"
        return date if kind == "monthly" else f"{rng.choice(MONTHS + ['feb', 'feb'])} {date}"

    rng = random.Random(20081)
    for kind, count in ("hourly", 2), ("daily", 8), ("weekly", 14), ("monthly", 20), ("yearly", 20):
        for n in range(count):
            a = point(kind, rng)
            b = a if n % 4 == 0 else point(kind, rng)
            text = f"{kind} at {a}" if n % 8 == 0 else f"{kind} between {a} and {b}"
            yield text, kind, a, b


def ask(program, lines):
    answer = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    return answer.stdout.splitlines()


def check(text, lines, wanted, got):
    assert len(got) == len(lines), (text, len(got))
    for line, want, answer in zip(lines, wanted, got):
        if answer != f"{want[0]} {want[1]}":
            sys.exit(f"{line}: {answer}, should be {want[0]} {want[1]}")


def test_calendar(program):
    count = 0
    start, end = datetime.datetime(2024, 1, 1), datetime.datetime(2034, 1, 1)
    for text, kind, a, b in calendar_cases():
        begins, ends = list(moments(kind, a)), list(moments(kind, b))
        # beyond the ten years nothing is listed: more of a year's instants for the last windows
        horizon = [t for t in begins if t < LAST]
        lines, wanted = [], []
        rng = random.Random(text)
        day = start
        while day < end:
            for now in (day, day + SECOND * rng.randrange(86400)):
                i = bisect.bisect_right(horizon, now)
                if i + 1 >= len(horizon) or horizon[i + 1] >= end:
                    continue
                for moment, j in ((ticks(now), i), (ticks(horizon[i]) - 1, i)):
                    begin = horizon[j]
                    lines.append(f"{text}|{moment - rng.choice([0, 0, 1, 300, 10 ** 7])}|{moment}")
                    wanted.append((ticks(begin), ticks(window_end(kind, begin, ends, a, b, begins))))
            day += datetime.timedelta(days=1)
        check(text, lines, wanted, ask(program, lines))
        count += len(lines)
    return count


def test_every(program):
    """'every …' counts on from the due time: the series is built by adding."""
    rng = random.Random(7)
    count = 0
    for unit in "seconds", "minutes":
        for every in range(1, 60):
            lines, wanted = [], []
            second, length = rng.randrange(60), rng.randrange(60)
            text = f"every {every:02} seconds" if unit == "seconds" else f"every {every:02} minutes between {second:02} and {(second + length) % 60:02}"
            for _ in range(60):
                due = datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=rng.randrange(10 * 365 * 86400))
                now = due + datetime.timedelta(seconds=rng.choice([-100, 0, 1, rng.randrange(20000)]))
                if unit == "seconds":
                    step, moment, end = SECOND * every, due, 0
                else:
                    step, moment, end = 60 * SECOND * every, due.replace(second=second), length
                while moment <= max(now, due):
                    moment += step
                lines.append(f"{text}|{ticks(due)}|{ticks(now)}")
                wanted.append((ticks(moment), ticks(moment + SECOND * end)))
            check(text, lines, wanted, ask(program, lines))
            count += len(lines)
    return count


if __name__ == "__main__":
    print(test_calendar(sys.argv[1]) + test_every(sys.argv[1]), "answers compared")
