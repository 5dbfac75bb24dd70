"""A Kerberos realm of its own for the tests: database, KDC on loopback, principals, tickets. Nothing of the system's Kerberos is used or changed."""
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

REALM = "TEST.LOCAL"
TOOLS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")

KRB5_CONF = """[libdefaults]
    default_realm = {realm}
    dns_lookup_kdc = false
    dns_lookup_realm = false
    dns_canonicalize_hostname = false
    rdns = false
    udp_preference_limit = 1
    default_ccache_name = FILE:{dir}/nobody.cc
    {more}
[realms]
    {realm} = {{
        kdc = 127.0.0.1:{port}
    }}
[domain_realm]
    localhost = {realm}
"""

KDC_CONF = """[kdcdefaults]
    kdc_listen = 127.0.0.1:{port}
    kdc_tcp_listen = 127.0.0.1:{port}
[realms]
    {realm} = {{
        database_name = {dir}/principal
        key_stash_file = {dir}/stash
        acl_file = {dir}/acl
        max_life = 24h
    }}
[logging]
    kdc = FILE:{dir}/kdc.log
"""


def find(name):
    """The program's path; Debian keeps some of them in sbin."""
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")


def free_port():
    """Free for TCP and UDP at this moment."""
    while True:
        with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
            tcp.bind(("127.0.0.1", 0))
            try:
                udp.bind(tcp.getsockname())
            except OSError:
                continue
            return tcp.getsockname()[1]


class Kdc:
    """with Kdc() as kdc: kdc.user("alice", "pw"); kdc.service(port); env = kdc.ticket("alice", "pw")"""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="procession-kdc-"))
        self.process = None
        self.count = 0

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        if self.process is not None:
            self.process.terminate()
            self.process.wait(10)
        shutil.rmtree(self.dir, ignore_errors=True)

    @property
    def keytab(self):
        return str(self.dir / "keytab")

    @property
    def env(self):
        """For the KDC's own programs and for clients without a ticket."""
        return dict(os.environ, **self.settings)

    @property
    def settings(self):
        """What a server of this realm needs in its environment."""
        return {"KRB5_CONFIG": str(self.dir / "krb5.conf"), "KRB5_KDC_PROFILE": str(self.dir / "kdc.conf"), "KRB5RCACHEDIR": str(self.dir)}

    def start(self):
        self.port = free_port()
        values = {"realm": REALM, "dir": self.dir, "port": self.port}
        (self.dir / "krb5.conf").write_text(KRB5_CONF.format(more="", **values))
        (self.dir / "kdc.conf").write_text(KDC_CONF.format(**values))
        (self.dir / "acl").write_text("")
        self.run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master-of-the-test")
        self.service(None)
        self.process = subprocess.Popen([find("krb5kdc"), "-n"], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=open(self.dir / "kdc.err", "wb"))
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, "the KDC does not start\n" + (self.dir / "kdc.err").read_text()
                time.sleep(0.02)

    def run(self, name, *args, text=None, env=None):
        done = subprocess.run([find(name), *args], env=env or self.env, input=text, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, f"{name} {args}: {done.stdout}{done.stderr}"
        return done.stdout

    def admin(self, *commands):
        for command in commands:
            self.run("kadmin.local", "-r", REALM, "-q", command)

    def user(self, name, password):
        self.admin(f"addprinc -pw {password} {name}")

    def service(self, port):
        """A key for MSSQLSvc/localhost:port (or without port) in the keytab."""
        name = "MSSQLSvc/localhost" + (f":{port}" if port else "")
        self.admin(f"addprinc -randkey {name}", f"ktadd -k {self.keytab} {name}")
        return name

    def ticket(self, name, password, *options):
        """Logs in at the KDC; gives the environment that has the ticket."""
        self.count += 1
        env = dict(self.settings, KRB5CCNAME=f"FILE:{self.dir}/cc{self.count}")
        self.run("kinit", *options, name, text=password + "\n", env=dict(os.environ, **env))
        return env
