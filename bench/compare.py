#!/usr/bin/python3
"""Two builds of the server in turns: what a change costs or gains. Each round runs every workload against both, the order changing from round to round, so that
what else the machine does disturbs both alike. Shown is the ratio of calls a second, after to before, as the geometric mean of the rounds with its standard error,
and the same for CPU a call.

    tools/build.sh release; cp build/release/src/daemon/processiond /tmp/before      # in the old tree
    tools/build.sh release; bench/compare.py /tmp/before build/release/src/daemon/processiond

The load generator is that of `make bench` (build/bench/load), which builds it.
"""
import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import turns
from daemons import Procession

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORKLOADS = ("select1", "state_read", "state_rw", "word_cycle", "translate_cycle", "sched_cycle")


def load(server, workload, connections, seconds, tools, tls=False, size=None):
    command = [tools / "load", "--server", server.address, "--workload", workload, "--connections", connections, "--seconds", seconds, "--warmup", 0.5,
               "--pid", server.pid, "--password-file", server.password] + (["--tls"] if tls else []) + (["--bytes", size] if size else [])
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{workload}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def measure(servers, name, args):
    """name is a workload, with ' TLS' for encrypted connections, or with the bytes of an item."""
    workload, _, how = name.partition(" ")
    size = int(how) if how.isdigit() else None
    found = turns.in_turns(args.rounds, *(lambda s=server: load(s, workload, args.connections, args.seconds, args.tools, how == "TLS", size)
                                          for server in servers))
    calls, cpu = ([[r[key] for r in one] for one in found] for key in ("calls_per_s", "server_cpu_us_per_call"))
    print(f"| `{name}` | {statistics.median(calls[0]):,.0f} | {statistics.median(calls[1]):,.0f} | {turns.shown(turns.ratio(*calls))} | {turns.shown(turns.ratio(*cpu))} |", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("before", help="the program as it was")
    p.add_argument("after", help="the program as it is")
    p.add_argument("--rounds", type=int, default=6, help="how often each is measured (%(default)s)")
    p.add_argument("--seconds", type=float, default=3, help="how long each time (%(default)s)")
    p.add_argument("--connections", type=int, default=32, help="(%(default)s)")
    p.add_argument("--workload", action="append", help="one of " + ", ".join(WORKLOADS) + "; 'select1 TLS' with TLS; 'state_large 16777216': items of so many bytes; default all, and select1 with TLS")
    p.add_argument("--dir", default="/var/tmp", help="the disk to measure (%(default)s)")
    p.add_argument("--tools", type=pathlib.Path, default=ROOT / "build/bench", help="where the load generator is (%(default)s)")
    args = p.parse_args()
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="procession-compare-", dir=args.dir)))
        servers = []
        for name, program in (("before", args.before), ("after", args.after)):
            server = Procession(folder / name, program)
            stack.callback(server.stop)
            servers.append(server.start())
            load(server, "state_fill", 64, args.seconds, args.tools)
        print("| workload | calls/s before | after | ratio of calls/s | ratio of CPU a call |\n| --- | ---: | ---: | ---: | ---: |")
        for workload in args.workload or (*WORKLOADS, "select1 TLS"):
            measure(servers, workload, args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
