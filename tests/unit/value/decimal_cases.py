"""Prints decimal_cases.def: decimal arithmetic as T-SQL does it, computed with Python's decimal module.

    python3 decimal_cases.py > decimal_cases.def

The rules of precision and scale are written here a second time, from Microsoft's page "Precision, scale, and length", so that the C code
is compared with another reading of the same text. The numbers come from a fixed seed: the output never changes by itself.
"""
import decimal
import random

decimal.getcontext().prec = 200
D = decimal.Decimal


def result_type(op, p1, s1, p2, s2):
    if op in "+-":
        s = max(s1, s2)
        whole = max(p1 - s1, p2 - s2)
        p = s + whole + 1
        if p > 38:
            p, s = 38, min(s, 38 - whole)
        return p, s
    if op == "*":
        p, s = p1 + p2 + 1, s1 + s2
    elif op == "/":
        s = max(6, s1 + p2 + 1)
        p = p1 - s1 + s2 + s
    else:
        s = max(s1, s2)
        return min(p1 - s1, p2 - s2) + s or 1, s
    if p > 38:
        whole = p - s
        if whole < 32:
            s = min(s, 38 - whole)
        elif s > 6:
            s = 6
        p = 38
    return p, s


def compute(op, a, b, p, s):
    unit = D(1).scaleb(-s)
    if op == "+":
        r = (a + b).quantize(unit, decimal.ROUND_HALF_UP)
    elif op == "-":
        r = (a - b).quantize(unit, decimal.ROUND_HALF_UP)
    elif op == "*":
        r = (a * b).quantize(unit, decimal.ROUND_HALF_UP)
    elif op == "/":
        r = (a / b).quantize(unit, decimal.ROUND_DOWN)
    else:
        r = (a % b).quantize(unit)
    return None if abs(r) >= D(10) ** (p - s) else r + D(0)


def number(rng, p, s):
    digits = rng.choice([p, p, max(1, p // 2), 1])
    value = rng.choice([rng.randrange(10 ** digits), 10 ** digits - 1, 10 ** (digits - 1), 0, 5 * 10 ** (digits - 1)])
    return D(rng.choice([1, -1]) * value).scaleb(-s)


def text(d, s):
    t = format(d.quantize(D(1).scaleb(-s)), "f")
    return t.lstrip("-") if D(t) == 0 else t


def main():
    rng = random.Random(38)
    print("/* Made by decimal_cases.py with Python's decimal module; do not edit. */")
    for i in range(600):
        op = "+-*/%"[i % 5]
        p1, p2 = (rng.choice([1, 5, 9, 10, 18, 19, 28, 30, 38, 38]) for _ in range(2))
        s1, s2 = rng.randint(0, p1), rng.randint(0, p2)
        a, b = number(rng, p1, s1), number(rng, p2, s2)
        if op in "/%" and b == 0:
            continue
        p, s = result_type(op, p1, s1, p2, s2)
        r = compute(op, a, b, p, s)
        shown = '"%s"' % text(r, s) if r is not None else "NULL"
        print("{ '%s', %d, %d, \"%s\", %d, %d, \"%s\", %d, %d, %s }," % (op, p1, s1, text(a, s1), p2, s2, text(b, s2), p, s, shown))


main()
