"""A server that belongs to the realm of a KDC."""
import os

from support.server import ROOT, Server
from support.wire import Wire

DATABASES = ("WordAutomation", "Translation", "ScheduledJobs", "StateService")
ALICE, BOB = ("alice", "alices-pw"), ("CORP\\bob", "bobs-pw")
# gss-ntlmssp is built without frame pointers: its leaks are recognised only by the slow way of looking at the stack.
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:verify_asan_link_order=0:fast_unwind_on_malloc=0",
    "LSAN_OPTIONS": f"suppressions={ROOT}/tools/lsan.suppress:print_suppressions=0",
}


class Realm:
    """A server of the realm, and what clients need to get in."""

    def __init__(self, kdc, folder, env=None, **config):
        self.kdc = kdc
        self.folder = folder
        users = folder / "ntlm-users"
        users.write_text("CORP:bob:bobs-pw\nCORP:eve:eves-pw\n")
        config = {"keytab": kdc.keytab, "ntlm": "on", "ntlm_user_file": users, "login_fail_limit": 100000, "login_fail_window": 1, **config}
        self.server = Server(config=config, env={**SANITIZERS, **kdc.settings, **(env or {})}).start()
        try:
            self.spn = kdc.service(self.server.port)
            self.admin_run("TEST.LOCAL\\alice", "CORP\\bob")
        except BaseException:
            self.server.kill()
            raise

    def admin_run(self, *names):
        """Adds Windows logins that may execute everywhere."""
        with Wire(self.server).login(database="master") as admin:
            for name in names:
                admin.batch(f"EXEC procession_login_add @name = '{name}', @windows = 1, @default_database = 'StateService'").ok()
                for database in DATABASES:
                    admin.batch(f"EXEC procession_grant @login = '{name}', @database = '{database}', @rights = 'execute'").ok()

    def freetds(self, ticket=None):
        """Environment for FreeTDS: sections kerberos and ntlm of its configuration."""
        path = self.folder / "freetds.conf"
        text = "[global]\n\tclient charset = UTF-8\n\tconnect timeout = 15\n"
        for name, more in (("kerberos", "\trealm = TEST.LOCAL\n"), ("ntlm", "")):
            for mode in ("off", "request", "require"):
                text += f"[{name}-{mode}]\n\thost = localhost\n\tport = {self.server.port}\n\ttds version = 7.4\n\tencryption = {mode}\n{more}"
        path.write_text(text)
        return dict(os.environ, FREETDSCONF=str(path), LC_ALL="C.UTF-8", **(ticket or self.kdc.settings))

    def stop(self):
        try:
            self.server.stop()
        finally:
            self.server.remove()
