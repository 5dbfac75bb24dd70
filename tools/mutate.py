#!/usr/bin/env python3
"""mutate — would a test notice if a declaration were wrong?

Breaks the declarations in procedures/ one at a time (drops a CHECK or a step, swaps two columns or parameters, changes a
comparison, a number, a default, an order, a type …), builds a server of each, and runs the behaviour tests of its service
against it until one fails, and fails again (one whose set-up fails must pass against the sound server at once, under the same
load). A breakage that no test notices is a sentence of the specification that nothing proves.

  tools/mutate.py                                     everything: more than an hour on two cores (make mutants)
  tools/mutate.py --service state                     one service: state, word, translation, schedule
  tools/mutate.py --procedure proc_AddItem            one procedure (of every service that has it); may be given more than once
  tools/mutate.py --operator "drop a"                 only breakages whose name begins so
  tools/mutate.py --sample 24 --seed 13               some, the same ones each time
  tools/mutate.py --listed tools/mutate.sample        those of a list, as make test does
  tools/mutate.py --list                              shows the breakages and builds nothing

What survives, and what a run of everything left undecided, is shown as a difference with file and line, and the status is 1.
Either write the test that notices it, or, when nobody could ever notice, add it to tools/mutate.equivalent with the reason.
After the run every test that noticed something is run against the server as it is: one that fails there proves nothing, and is
reported too.
The plain build must be up to date (tools/build.sh plain). Logs of what survived: build/mutants.
"""
import argparse
import collections
import fnmatch
import hashlib
import importlib.util
import os
import sys
import time
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True

from mutate_lib import known, operators  # noqa: E402
from mutate_lib.crew import TESTS, Crew, History, Task  # noqa: E402
from mutate_lib.factory import Factory  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EQUIVALENT = os.path.join(ROOT, "tools", "mutate.equivalent")
HISTORY = os.path.join(ROOT, "tools", "mutate.order")


def sources():
    for service in TESTS:
        folder = os.path.join(ROOT, "procedures", service)
        for file in sorted(os.listdir(folder)):
            if file.endswith(".proc"):
                yield operators.Source(os.path.join(folder, file), f"{service}/{file[:-5]}", f"procedures/{service}/{file}")


def chosen(args, every, listed):
    """What the options ask for, in an order that depends on nothing but seed and texts."""
    out = [m for m in every
           if (not args.listed or m.key in listed)
           and (not args.service or m.source.name.split("/")[0] in args.service)
           and (not args.procedure or any(fnmatch.fnmatch(m.source.name.split("/")[1], p) for p in args.procedure))
           and (not args.operator or any(m.operator.startswith(o) for o in args.operator))]
    if args.sample:
        # By its own text: a change of one declaration leaves the choice among the others alone.
        out.sort(key=lambda m: hashlib.sha256(repr((args.seed, m.key)).encode()).digest())
        out = out[:args.sample]
    return out


def line_of(mutant):
    """How a report tells a mutant."""
    return [f"{mutant.source.shown}:{mutant.line}", mutant.operator, " | ".join(mutant.removed), " | ".join(mutant.added)]


def noticed_before(paths):
    out = set()
    for path in paths:
        with open(path, encoding="utf-8") as f:
            rows = [line.rstrip("\n").split("\t") for line in f]
        out |= {(r[2], r[3], r[5], r[6]) for r in rows if r[0] in ("noticed", "refused")}
    return out


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--service", action="append", choices=sorted(TESTS), help="only this service")
    parser.add_argument("--procedure", action="append", metavar="NAME", help="only this procedure; * and ? as in a shell")
    parser.add_argument("--operator", action="append", metavar="TEXT", help="only breakages whose name begins with TEXT")
    parser.add_argument("--sample", type=int, metavar="N", help="N of them, chosen by --seed")
    parser.add_argument("--seed", type=int, default=13, metavar="S", help="another number, another sample (default: 13)")
    parser.add_argument("--listed", metavar="FILE", help="those in FILE, written as in tools/mutate.equivalent: '=' names the test that noticed it, which is run first")
    parser.add_argument("--list", action="store_true", help="show them and end")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="servers at once (default: 2)")
    parser.add_argument("--limit", type=float, default=240, metavar="SECONDS", help="for one mutant, after which it counts as undecided (default: 240)")
    parser.add_argument("--seconds", type=float, metavar="S", help="begin no more after this time; the rest counts as not tried")
    parser.add_argument("--only", action="append", metavar="TEXT", help="only tests whose name contains TEXT; what these do not notice counts as undecided")
    parser.add_argument("--learn", action="store_true", help="write down which tests notice most (tools/mutate.order): they are run first from then on")
    parser.add_argument("--report", metavar="FILE", help="the result of every mutant, one a line, as they are done")
    parser.add_argument("--skip", action="append", metavar="FILE", default=[], help="not what FILE, a report, says was noticed: goes on where a run ended")
    parser.add_argument("--junit", metavar="FILE", help="the results as a JUnit file: each mutant a test, what survived a failure")
    parser.add_argument("--verbose", action="store_true", help="a line for every mutant as it is done")
    return parser.parse_args(argv)


def control(crew, tasks):
    """Every test that noticed something must pass against the server as it is. Gives those that do not."""
    wanted = collections.defaultdict(set)
    for task in tasks:
        if task.result == "noticed":
            wanted[task.service].add(task.test)
    checks = [Task(None, service, only) for service, only in sorted(wanted.items())]
    crew.run(checks)
    return [(c.service, c.test or f"the run itself ({c.result})", c.log) for c in checks if c.result != "survived"]


def write_junit(path, tasks, stale, bad):
    suite = ET.Element("testsuite", name="mutants")
    faults = [(file, key[0], "there is no such breakage any more") for file, key in stale]
    faults += [(service, test, "fails without any breakage") for service, test, _ in bad]
    for task in tasks:
        if task.result == "noticed":
            ET.SubElement(suite, "testcase", classname=task.mutant.source.name, name=f"{task.mutant.line}: {task.mutant.operator}")
        elif task.result in ("survived", "failed"):
            faults.append((task.mutant.source.name, f"{task.mutant.line}: {task.mutant.operator}", task.mutant.show()))
    for where, name, text in faults:
        ET.SubElement(ET.SubElement(suite, "testcase", classname=where, name=name), "failure").text = text
    ET.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def tell(tasks, stale, bad, seconds, is_whole):
    count = collections.Counter(t.result for t in tasks)
    words = {"survived": "no test noticed it", "failed": "could not be tried", "late": "was not decided in its time"}
    for task in tasks:
        if task.result in words:
            print(f"\n{task.mutant.show()}\n  {words[task.result]}; {task.log}")
    for file, key in stale:
        print(f"\n{file}: {key[0]}: there is no such breakage any more; take it out, or write what it is now:")
        print("\n".join(["- " + l for l in key[1]] + ["+ " + l for l in key[2]]))
    for service, test, log in bad:
        print(f"\n{service}: fails without any breakage, and so proves nothing: {test}; {log}")
    made = sum(count[r] for r in ("noticed", "late", "survived", "failed"))
    print(f"\nmutants: {made} made, {count['noticed']} noticed, {count['survived']} survived, {count['late']} undecided in their time, "
          f"{count['failed']} could not be tried, {count[None]} not begun; {count['refused']} refused by procgen; {seconds:.0f} s")
    # A part may be in a hurry; but what was never decided is not proved.
    return 1 if count["survived"] or count["failed"] or stale or bad or (is_whole and count["late"]) else 0


def main(argv):
    args = parse(argv)
    begun = time.monotonic()
    every = [m for s in sources() for m in s.mutants()]
    equivalent = known.read(EQUIVALENT)
    listed = known.read(args.listed) if args.listed else {}
    if args.listed and not listed:
        sys.exit(f"{args.listed}: there is nothing in it")
    keys = {m.key for m in every}
    # A sample is no time to clean up: who tries everything looks at the list as well.
    stale = [] if args.sample or args.listed else [("tools/mutate.equivalent", key) for key in sorted(set(equivalent) - keys)]
    stale += [(args.listed, key) for key in sorted(set(listed) - keys)]
    before = noticed_before(args.skip)
    picked = [m for m in chosen(args, every, listed) if tuple(line_of(m)) not in before]
    if args.list:
        for m in picked:
            print(m.show() + (f"\n= {equivalent[m.key]}" if m.key in equivalent else "") + "\n")
        print(f"{len(picked)} mutants, {sum(m.key in equivalent for m in picked)} of them equivalent")
        return 0
    if importlib.util.find_spec("pytest") is None:
        sys.exit(f"mutate: {sys.executable} has no pytest; tools/setup.sh test installs it for /usr/bin/python3: begin with that, or with make mutants")
    tasks = [Task(m, m.source.name.split("/")[0]) for m in picked if m.key not in equivalent]
    history = History(HISTORY)
    for key, test in listed.items():
        history.learn(key[0], test, 1000)
    crew = Crew(ROOT, Factory(ROOT), history, args.jobs, args.limit, args.only)
    report = open(args.report, "a", encoding="utf-8") if args.report else None

    def told(task):
        place, operator, removed, added = line_of(task.mutant)
        line = f"{task.result}\t{task.seconds:.1f}\t{place}\t{operator}\t{task.test or ''}"
        if args.verbose:
            print(line, flush=True)
        if report:
            report.write(f"{line}\t{removed}\t{added}\n")
            report.flush()

    try:
        crew.run(tasks, begun + args.seconds if args.seconds else None, told)
        bad = control(crew, tasks)
    finally:
        crew.close()
    if args.learn:
        history.write()
    if args.junit:
        write_junit(args.junit, tasks, stale, bad)
    is_whole = not (args.sample or args.listed or args.only or args.seconds)
    return tell(tasks, stale, bad, time.monotonic() - begun, is_whole)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except known.ListError as error:
        sys.exit(str(error))
