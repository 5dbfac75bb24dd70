"""Running tests against broken servers, some at a time.

For each service a foreman is forked, which starts pytest and lets it collect. Then, instead of running the tests, it forks a
child for every mutant: the child builds the server, runs the tests until the first failure, and leaves a file with the result.
So everything is imported and collected once, and a mutant that is noticed soon costs about a second. A child has a process
group of its own: when its time is over, it and the servers it started are ended together.
"""
import collections
import glob
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback

from mutate_lib.trial import Trial
from procgen_lib import declare

PLAIN = "build/processiond"
# Where the sentences of a service are proved.
TESTS = {"state": ("tests/behaviour/state",), "schedule": ("tests/behaviour/schedule",),
         "word": ("tests/behaviour/jobs", "tests/behaviour/word"), "translation": ("tests/behaviour/jobs", "tests/behaviour/translation")}
WAY = re.compile(r"\b(word|translation)-(corrected|literal)-(\w+-\w+)")
CARRIED = re.compile(r"\b(corrected|literal)-(pytds-rpc|pytds-batch|pymssql-rpc|pymssql-batch)")
SLOW = 0.5                                              # seconds: these tests come last
CONTROL_LIMIT = 1800                                    # seconds for all tests against the server as it is, on a machine with other work
OPTIONS = ["-q", "-s", "--tb=short", "-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", "tests", "-c", "tests/pytest.ini"]


class History:
    """Which tests noticed mutants of a procedure before, and how long tests take: the order, never the result, depends on it."""

    def __init__(self, path):
        self.path, self.kills, self.times = path, collections.defaultdict(collections.Counter), {}
        try:
            with open(path, encoding="utf-8") as f:
                for line in f:
                    if line.strip() and not line.startswith("#"):
                        name, test = line.rstrip("\n").split("\t")
                        self.kills[name][test] += 1
        except OSError:
            pass

    def learn(self, name, test, times=1):
        self.kills[name][test] += times

    def write(self, most=6):
        with open(self.path, "w", encoding="utf-8") as f:
            f.write("# The tests that noticed most breakages of each procedure: tools/mutate.py --learn writes them, and runs them first.\n")
            f.write("# Only the order of the tests depends on it; a line too many or too few does no harm.\n")
            for name in sorted(self.kills):
                for test, _ in self.kills[name].most_common(most):
                    f.write(f"{name}\t{test}\n")

    def rank(self, name, service):
        """A sort key for tests: what noticed mutants of this procedure, what proves a sentence about it, what noticed mutants of its
        service; of these the quick ones."""
        mine = self.kills[name]
        others = collections.Counter()
        for each, tests in self.kills.items():
            if each.startswith(service + "/"):
                others.update(tests)
        about = "-" + name.rpartition("_")[2] + "-"

        def key(item):
            test = item.nodeid
            proves = any(about in i for mark in item.iter_markers("proves") for i in mark.args)
            return (-mine[test], self.times.get(test, 0) > SLOW, not proves, -others[test])
        return key


class Choice:
    """pytest plugin of a foreman: which tests of the service are run, and what is done instead of running them once."""

    def __init__(self, service, work):
        self.service, self.work = service, work
        self.listener = None

    def pytest_collection_modifyitems(self, config, items):
        """The way of calling does not change what a declaration says: one is enough."""
        names = {i.nodeid for i in items}
        kept = [i for i in items if self.is_wanted(i, names)]
        config.hook.pytest_deselected(items=[i for i in items if i not in set(kept)])
        items[:] = kept

    def is_wanted(self, item, names):
        if getattr(item, "callspec", None) and item.callspec.params.get("carrier", "pytds") != "pytds":
            return False
        m = WAY.search(item.nodeid)
        if m and m.group(1) != self.service:
            return False
        m = CARRIED.search(item.nodeid)
        if m is None or m.group(2) == "pytds-rpc":
            return True
        plain = item.nodeid[:m.start(2)] + "pytds-rpc" + item.nodeid[m.end(2):]
        return plain not in names

    def pytest_runtestloop(self, session):
        if session.testsfailed:
            raise session.Interrupted("the tests could not be collected")
        self.work(self, session.items)
        return True

    def pytest_runtest_logreport(self, report):
        if self.listener:
            self.listener(report)


class Task:
    """One mutant, or (mutant None) the server as it is; becomes a result."""

    def __init__(self, mutant, service, only=None):
        self.mutant, self.service, self.only = mutant, service, only
        self.result, self.test, self.seconds, self.log = None, None, 0.0, None


class Crew:
    """Runs Tasks: jobs at a time, each for at most limit seconds."""

    def __init__(self, root, factory, history, jobs, limit, only=None):
        """only: texts, of which the name of a test must contain one."""
        self.root, self.factory, self.history, self.jobs, self.limit, self.only = root, factory, history, jobs, limit, only
        self.logs = os.path.join(root, "build", "mutants")
        shutil.rmtree(self.logs, ignore_errors=True)
        os.makedirs(self.logs)
        # The databases of the servers: in memory when there is some, since nothing here is about disks.
        shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.space = tempfile.mkdtemp(prefix="procession-mutants-", dir=shared)

    def close(self):
        """Removes what is left: also what libfaketime keeps for servers that were killed."""
        shutil.rmtree(self.space, ignore_errors=True)
        for path in glob.glob("/dev/shm/*faketime_*"):
            pid = path.rpartition("_")[2]
            if pid.isdigit() and not os.path.exists("/proc/" + pid) and os.access(path, os.W_OK):
                os.remove(path)

    def run(self, tasks, until=None, told=lambda task: None):
        """All of them, one service after the other; those that had not begun at the time until keep result None."""
        services = [(s, [t for t in tasks if t.service == s]) for s in TESTS if any(t.service == s for t in tasks)]
        for n, (service, mine) in enumerate(services):
            # What is left of the time is shared by the services that are left.
            mine_until = until and time.monotonic() + (until - time.monotonic()) / (len(services) - n)
            self.run_service(service, mine, mine_until, told)

    def run_service(self, service, tasks, until, told):
        """Forks the foreman and takes over what it reports, a line a task."""
        reading, writing = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            try:
                self.foreman(service, tasks, until, os.fdopen(writing, "w", encoding="utf-8"))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as lines:
            for line in lines:
                found = json.loads(line)
                task = tasks[found.pop("number")]
                self.history.times.update(found.pop("times"))
                vars(task).update(found)
                if task.mutant and task.result == "noticed":
                    self.history.learn(task.mutant.source.name, task.test)
                told(task)
        _, status = os.waitpid(pid, 0)
        for task in tasks:
            if status and task.result is None:
                task.result, task.log = "failed", f"build/mutants/{service}.log"

    # --- in the foreman ---

    def foreman(self, service, tasks, until, report):
        with open(os.path.join(self.logs, service + ".log"), "ab", buffering=0) as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        import pytest
        sys.path.insert(0, os.path.join(self.root, "tests"))
        plain = os.path.join(self.root, PLAIN)
        os.environ.update(PROCESSIOND=plain, PROCESSIOND_PLAIN=plain, PROCESSION=os.path.join(self.root, "build", "procession"))
        os.chdir(self.root)
        os.environ["SERVER_CERTIFICATE"] = self.make_certificate()
        for number, task in enumerate(tasks):
            task.number = number
        status = pytest.main(OPTIONS + list(TESTS[service]), plugins=[Choice(service, lambda choice, items: self.work(choice, items, tasks, until, report))])
        if status != pytest.ExitCode.OK:
            raise RuntimeError(f"pytest ended with {status!r}")

    def make_certificate(self):
        """One for all servers: without it two thirds of the time of a first start go into a key."""
        from support.server import Server
        with Server() as server:
            shutil.copytree(server.data, os.path.join(self.space, "certificate"), ignore=lambda _, names: [n for n in names if not n.startswith("server.")],
                            dirs_exist_ok=True)
        return os.path.join(self.space, "certificate")

    def work(self, choice, items, tasks, until, report):
        waiting, running = collections.deque(tasks), {}
        try:
            while waiting or running:
                while waiting and len(running) < self.jobs and (until is None or time.monotonic() < until):
                    task = waiting.popleft()
                    running[self.begin(choice, items, task)] = task
                if not running:
                    return
                for task in self.reap(running):
                    report.write(json.dumps(self.finish(task)) + "\n")
                    report.flush()
        finally:
            for pid in running:
                self.end(pid)

    def begin(self, choice, items, task):
        task.folder = tempfile.mkdtemp(dir=self.space)
        task.begun = time.monotonic()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                self.child(choice, items, task)
            finally:
                os._exit(0)
        return pid

    def reap(self, running):
        """Tasks that are done; those whose time is over are ended."""
        pid, _ = os.waitpid(-1, os.WNOHANG)
        late = [p for p, t in running.items() if p != pid and time.monotonic() - t.begun > (self.limit if t.mutant else CONTROL_LIMIT)]
        if pid == 0 and not late:
            time.sleep(0.02)
        for done in late:
            self.end(done)
            running[done].result = "late"
        return [running.pop(p) for p in ([pid] if pid else []) + late]

    @staticmethod
    def end(pid):
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:
            pass

    def finish(self, task):
        """What the foreman reports of a task."""
        try:
            with open(os.path.join(task.folder, "result"), encoding="utf-8") as f:
                found = json.load(f)
        except (OSError, ValueError):
            found = {"result": task.result or "failed", "test": None, "times": {}}
        self.history.times.update(found["times"])
        if task.mutant and found["result"] == "noticed":
            self.history.learn(task.mutant.source.name, found["test"])
        log = f"build/mutants/{task.service}-{task.number}{'' if task.mutant else '-control'}.log"
        if found["result"] not in ("noticed", "refused") or task.mutant is None:
            shutil.copyfile(os.path.join(task.folder, "log"), os.path.join(self.root, log))
        shutil.rmtree(task.folder, ignore_errors=True)
        return dict(found, number=task.number, seconds=time.monotonic() - task.begun, log=log)

    # --- in the child ---

    def child(self, choice, items, task):
        os.nice(5)
        with open(os.path.join(task.folder, "log"), "wb", buffering=0) as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        found = {"result": "failed", "test": None, "times": {}}
        try:
            if task.mutant:
                print(task.mutant.show(), flush=True)
            server = self.factory.make(task.mutant, task.folder)
            found = self.test(choice, items, task, server)
        except declare.DeclarationError as e:
            print(e)
            found["result"] = "refused"
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        self.leave(task, found)

    @staticmethod
    def leave(task, found):
        with open(os.path.join(task.folder, "part"), "w", encoding="utf-8") as f:
            json.dump(found, f)
        os.rename(os.path.join(task.folder, "part"), os.path.join(task.folder, "result"))

    def is_asked_for(self, item, task):
        if task.only is not None:
            return item.nodeid in task.only
        return not self.only or any(text in item.nodeid for text in self.only)

    def test(self, choice, items, task, server):
        space = os.path.join(task.folder, "space")
        os.mkdir(space)
        os.environ["TMPDIR"] = space
        tempfile.tempdir = None
        key = self.history.rank(task.mutant.source.name if task.mutant else "", task.service)
        items = sorted((i for i in items if self.is_asked_for(i, task)), key=key)
        found = Trial(choice, server, os.path.join(self.root, PLAIN)).run(items)
        if task.mutant and found["result"] == "survived" and self.only:
            found["result"] = "late"
        if task.mutant and found["result"] == "noticed":
            # This says it all: nobody waits for servers to stop that are thrown away.
            self.leave(task, found)
            os.killpg(0, signal.SIGKILL)
        return found
