"""How many assertions the C of src/ has for each 1,000 lines, static ones included. Fewer than LEAST is a finding: an invariant of a folder's
README that nobody asserts is prose.

    check_assertions.py          the sum, and a status
    check_assertions.py --list   and each room of docs/architecture.md, the fewest first
"""
import re
import sys

import rooms

LEAST = 5
ASSERTION = re.compile(r"\b(?:assert|_Static_assert)\(")


def counted():
    """{room: (assertions, lines)}"""
    table, found = rooms.read(), {}
    for path in (rooms.ROOT / "src").rglob("*.[ch]"):
        room = rooms.of(path.relative_to(rooms.ROOT / "src"), table)
        text = path.read_text()
        assertions, lines = found.get(room, (0, 0))
        found[room] = (assertions + len(ASSERTION.findall(text)), lines + text.count("\n"))
    return found


def main():
    found = counted()
    density = {room: 1000 * n / lines for room, (n, lines) in found.items()}
    if "--list" in sys.argv[1:]:
        for room in sorted(density, key=density.get):
            print(f"{density[room]:5.1f}  src/{room} ({found[room][0]} in {found[room][1]} lines)")
    total = 1000 * sum(n for n, _ in found.values()) / sum(lines for _, lines in found.values())
    if total >= LEAST:
        return 0
    print(f"src/ has {total:.1f} assertions for 1,000 lines, and {LEAST} are wanted: see tools/check_assertions.py --list")
    return 1


if __name__ == "__main__":
    sys.exit(main())
