"""A real Active Directory domain for the tests: Samba's domain controller with its KDC and winbind, in namespaces of its own.

No right of root is needed and nothing of the machine is touched: user, mount, network and process namespaces are made for it, /run is empty there (winbind's socket has a
fixed place below it), the network is a loopback where every port is free, and all its processes end with the shell that holds the namespaces. Server and clients are started
in the same ones by `nsenter`.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from kdc import find
from realm import SANITIZERS
from support.server import Server, command_binary

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
REALM = "CORP.TEST"
TOOLS = {"samba": "samba", "samba-tool": "samba-common-bin", "winbindd": "winbind", "wbinfo": "winbind", "unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2",
         "kinit": "krb5-user", "tsql": "freetds-bin"}
HOSTS = "127.0.0.1 localhost\n127.0.0.1 dc1.corp.test dc1\n127.0.0.1 db.corp.test db\n"
KRB5_CONF = """[libdefaults]
    default_realm = CORP.TEST
    dns_lookup_kdc = false
    dns_lookup_realm = false
    dns_canonicalize_hostname = false
    rdns = false
[realms]
    CORP.TEST = {
        kdc = 127.0.0.1
    }
[domain_realm]
    .corp.test = CORP.TEST
"""


def missing():
    """Why there can be no domain here; None: there can."""
    packages = sorted({package for name, package in TOOLS.items() if not find(name)})
    if packages:
        return f"no domain without {', '.join(packages)} (tools/setup.sh domain)"
    if not pathlib.Path("/usr/share/samba/setup").exists() or not list(pathlib.Path("/usr/lib").glob("*/samba/ldb/samldb.so")):
        return "no domain without samba-ad-provision and samba-dsdb-modules (tools/setup.sh domain)"
    if subprocess.run([find("unshare"), "-rmnpf", "true"], capture_output=True, timeout=20).returncode != 0:
        return "no domain without user namespaces: unshare -rmnpf fails"
    return None


class Domain:
    """with Domain() as domain: domain.run(["wbinfo", "-p"])"""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="procession-domain-"))
        self.env = dict(os.environ, KRB5_CONFIG=str(self.dir / "krb5.conf"), KRB5CCNAME=f"FILE:{self.dir}/cc", KRB5RCACHEDIR=str(self.dir),
                        FREETDSCONF=str(self.dir / "freetds.conf"), LC_ALL="C.UTF-8", PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
        self.shell = None

    def __enter__(self):
        try:
            self.hold()
            self.provision()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.shell is not None:
            self.shell.stdin.close()
            self.shell.stdout.close()
            self.shell.wait(20)
        shutil.rmtree(self.dir, ignore_errors=True)

    def hold(self):
        """A shell in the namespaces, which reads commands from us; when it ends, all processes of its process namespace end."""
        (self.dir / "hosts").write_text(HOSTS)
        self.shell = subprocess.Popen([find("unshare"), "-rmnpf", "--kill-child", "sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      text=True, env=self.env)
        self.tell(f"ip link set lo up && mount -t tmpfs tmpfs /run && mkdir /run/samba && mount --bind {self.dir}/hosts /etc/hosts && echo held")
        line = self.shell.stdout.readline()
        assert line == "held\n", line
        children = pathlib.Path(f"/proc/{self.shell.pid}/task/{self.shell.pid}/children").read_text().split()
        self.enter = [find("nsenter"), "-t", children[0], "-U", "--preserve-credentials", "-m", "-n"]

    def tell(self, command):
        self.shell.stdin.write(command + "\n")
        self.shell.stdin.flush()

    def run(self, command, check=True, **options):
        done = subprocess.run([*self.enter, *command], env=options.pop("env", self.env), capture_output=True, text=True, timeout=120, check=False, **options)
        assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def tool(self, *args):
        return self.run(["samba-tool", *args, "-s", str(self.dir / "dc" / "smb.conf")])

    @property
    def keytab(self):
        return self.dir / "keytab"

    def provision(self):
        (self.dir / "krb5.conf").write_text(KRB5_CONF)
        self.run(["/usr/bin/python3", str(PROGRAMS / "provision.py"), str(self.dir / "dc")])
        self.tool("domain", "exportkeytab", str(self.keytab), "--principal=MSSQLSvc/db.corp.test:1433")

    def start(self):
        self.tell(f"samba -F --no-process-group -s {self.dir}/dc/smb.conf >{self.dir}/log 2>&1 </dev/null &")
        deadline = time.monotonic() + 60
        while "succeeded" not in self.run(["wbinfo", "-p"], check=False) or "succeeded" not in self.run(["wbinfo", "-t"], check=False):
            assert time.monotonic() < deadline, "the domain does not start\n" + (self.dir / "log").read_text()
            time.sleep(0.1)

    def kinit(self, name, password):
        self.run(["kinit", name], input=password + "\n")


class DomainServer(Server):
    """A member of the domain: NTLM without a file of users, so that winbind is asked; Kerberos with a key of the domain."""

    def __init__(self, domain):
        config = {"keytab": domain.keytab, "ntlm": "on", "login_fail_limit": 100000, "login_fail_window": 1, "principal_map": "CORP\\*=staff"}
        super().__init__(settings={"listen": "127.0.0.1:1433"}, config=config,
                         env={**SANITIZERS, "KRB5_CONFIG": domain.env["KRB5_CONFIG"], "KRB5RCACHEDIR": str(domain.dir)})
        self.domain = domain

    def arguments(self):
        return [*self.domain.enter, *super().arguments()]

    def command(self, *args, **options):
        return self.domain.run([str(command_binary()), *args, "--server", self.address, "--password-file", str(self.dir / "password")], **options)
