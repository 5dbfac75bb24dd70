"""Machines on a network that a test can cut: each is a network namespace with an address of its own, all are on one bridge. Root only.

    with Network(3) as network:
        network.here                        # our own address there; network.also_here is a second one
        first = network.machines[0]
        first.address
        first.enter("nobody", "nogroup")    # what a command begins with that is to run there
        first.cut()                         # nothing comes in or goes out any more, and nobody is told
        first.cut(but=network.here)         # nothing but from and to there
        first.mend()
"""
import itertools
import os
import shutil
import subprocess


def missing():
    """Why there is no such network, or None."""
    if os.getuid() != 0:
        return "only root makes networks"
    lacking = [name for name in ("ip", "iptables", "setpriv") if shutil.which(name) is None]
    if lacking:
        return f"not installed: {', '.join(lacking)} (tools/setup.sh failover)"
    tried = subprocess.run(["unshare", "-n", "true"], stderr=subprocess.PIPE, text=True, check=False)
    return f"no network namespaces here: {tried.stderr.strip()}" if tried.returncode != 0 else None


def ip(*words):
    return subprocess.run(["ip", *words], stderr=subprocess.PIPE, text=True, check=True)


class Machine:
    def __init__(self, network, n):
        self.namespace, self.address = f"{network.name}n{n}", f"{network.prefix}.{11 + n}"
        outside = f"{network.name}v{n}"
        ip("netns", "add", self.namespace)
        ip("link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", self.namespace)
        ip("link", "set", outside, "master", network.name, "up")
        for words in (("link", "set", "lo", "up"), ("address", "add", f"{self.address}/24", "dev", "eth0"), ("link", "set", "eth0", "up")):
            ip("-n", self.namespace, *words)

    def enter(self, user, group):
        """Without a process in between: who is started has the number that Popen knows."""
        return ["ip", "netns", "exec", self.namespace, "setpriv", "--reuid", user, "--regid", group, "--clear-groups"]

    def _rule(self, *words):
        subprocess.run(["ip", "netns", "exec", self.namespace, "iptables", "-w", *words], check=True)

    def cut(self, but=None):
        """Whoever was connected is not told: packets disappear, as with a cable that is drawn."""
        if but is not None:
            self._rule("-A", "INPUT", "-s", but, "-j", "ACCEPT")
            self._rule("-A", "OUTPUT", "-d", but, "-j", "ACCEPT")
        self._rule("-A", "INPUT", "-i", "eth0", "-j", "DROP")
        self._rule("-A", "OUTPUT", "-o", "eth0", "-j", "DROP")

    def mend(self):
        self._rule("-F")

    def remove(self):
        subprocess.run(["ip", "netns", "del", self.namespace], check=False)      # and its end of the cable with it


class Network:
    def __init__(self, count):
        self.count, self.machines, self.name, self.prefix = count, [], f"pt{os.getpid():x}", None

    def __enter__(self):
        try:
            ip("link", "add", self.name, "type", "bridge")
            self.prefix = self._free_prefix()
            self.here, self.also_here = f"{self.prefix}.1", f"{self.prefix}.2"
            ip("address", "add", f"{self.here}/24", "dev", self.name)
            ip("address", "add", f"{self.also_here}/24", "dev", self.name)
            ip("link", "set", self.name, "up")
            for n in range(self.count):
                self.machines.append(Machine(self, n))
        except BaseException:
            self.remove()
            raise
        return self

    @staticmethod
    def _free_prefix():
        """One that no other interface has."""
        taken = subprocess.run(["ip", "-o", "-4", "address"], stdout=subprocess.PIPE, text=True, check=True).stdout
        return next(f"10.213.{n}" for n in itertools.islice(itertools.cycle(range(256)), os.getpid() % 256, None) if f"10.213.{n}." not in taken)

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        for machine in self.machines:
            machine.remove()
        subprocess.run(["ip", "link", "del", self.name], check=False)
