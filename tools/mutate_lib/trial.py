"""Tests against one server until one of them notices that it is broken.

A test notices a breakage when it fails twice. On a busy machine it can also fail for want of time, and most of that happens in
set-ups, which wait for servers: what failed in its set-up is run against the sound server at once, under the same load, and
counts only when it passes there.
"""
import os

NOW_AND_THEN = 3                                        # tests that failed once each


class Trial:
    def __init__(self, choice, broken, sound):
        """choice: the plugin that hears the reports; broken, sound: paths of servers."""
        self.broken, self.sound = broken, sound
        self.times, self.failed, self.doubtful = {}, set(), []
        self.is_open = False                            # did the machine keep a test from saying anything?
        choice.listener = self.listen
        self.use(broken)

    @staticmethod
    def use(server):
        os.environ.update(PROCESSIOND=server, PROCESSIOND_PLAIN=server)

    def listen(self, report):
        self.times[report.nodeid] = self.times.get(report.nodeid, 0) + report.duration
        if report.failed:
            self.failed.add(report.when)
            print(f"\n{report.nodeid}, {report.when}\n{report.longreprtext}", flush=True)

    def run(self, items):
        """What was found, as a task reports it."""
        result, test = "survived", None
        for item, following in zip(items, items[1:] + [None]):
            phases = self.once(item, following)
            if phases and self.is_noticed(item, following, phases):
                result, test = "noticed", item.nodeid
                break
        if result == "survived" and (self.is_open or not items):
            result = "late" if items else "failed"
        return {"result": result, "test": test, "times": self.times}

    def once(self, item, following):
        """The phases of the test that failed: setup, call, teardown."""
        self.failed = set()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return self.failed

    def is_noticed(self, item, following, phases):
        if "setup" in phases:
            self.start_anew(item)
        again = self.once(item, following)
        if not again:
            return self.fail_now_and_then(item)
        if "setup" not in phases | again:
            return True
        passes = self.pass_against_the_sound([item])
        self.is_open |= not passes
        return passes

    def fail_now_and_then(self, item):
        """A breakage may show itself now and then only: several tests have failed once, and one of them does it again, while
        all of them pass against the sound server."""
        self.doubtful.append(item)
        if len(self.doubtful) < NOW_AND_THEN:
            return False
        mine, self.doubtful = self.doubtful, []
        self.start_anew(item)
        return any([self.once(i, None) for i in mine]) and self.pass_against_the_sound(mine)

    def pass_against_the_sound(self, items):
        self.start_anew(items[0])
        self.use(self.sound)
        print("\nagainst the sound server:", *(i.nodeid for i in items), flush=True)
        try:
            return not any([self.once(i, None) for i in items])
        finally:
            self.use(self.broken)

    @staticmethod
    def start_anew(item):
        """Forgets all fixtures: pytest would give the failure of a wider one once more instead of trying again, and servers that
        run are those of before."""
        try:
            item.session._setupstate.teardown_exact(None)
        except Exception as error:
            print(f"in the teardown: {error!r}", flush=True)
