"""The scripts behind make run and make test, where things are not as they should be: packages that nobody may
install, a checkout that was moved, one that root has built."""
import contextlib
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
NOBODY = 65534


@pytest.fixture
def checkout():
    """A folder with the script and a small project, so that building takes a second. Anybody may look into it."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="newcomer-"))
    top.chmod(0o755)
    folder = top / "checkout"
    (folder / "tools").mkdir(parents=True)
    shutil.copy(TOOLS / "build.sh", folder / "tools")
    (folder / "meson.build").write_text("project('small', 'c')\nexecutable('small', 'small.c')\n")
    (folder / "meson_options.txt").write_text("option('tests', type: 'boolean')\n")
    (folder / "small.c").write_text("int main(void) { return 0; }\n")
    yield folder
    shutil.rmtree(top)


def build(folder, *before):
    return subprocess.run([*before, folder / "tools" / "build.sh", "plain"], capture_output=True, text=True, timeout=120, check=False)


def build_at_a_terminal(folder):
    ours, theirs = pty.openpty()
    done = subprocess.run([folder / "tools" / "build.sh", "plain"], stdin=theirs, stdout=theirs, stderr=theirs, timeout=120, check=False)
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError), open(ours, "rb", buffering=0) as stream:     # the end of a terminal is an error
        while piece := stream.read(4096):
            said += piece
    assert done.returncode == 0, said
    return said.decode()


def test_who_waits_at_a_terminal_sees_how_far_it_is(checkout):
    """Also when the first build was interrupted, or a file has changed since; and nothing when there is nothing to do."""
    assert "build: 100%" in build_at_a_terminal(checkout)
    (checkout / "small.c").write_text("int main(void) { return 1; }\n")
    assert "build: 100%" in build_at_a_terminal(checkout)
    assert build_at_a_terminal(checkout) == ""


def test_a_moved_checkout_is_built_anew(checkout):
    assert build(checkout).returncode == 0
    moved = checkout.rename(checkout.parent / "elsewhere")
    done = build(moved)
    assert done.returncode == 0 and "the checkout was moved: building build/meson anew" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr and (moved / "build" / "meson" / "small").exists()
    assert build(moved).stderr == ""                        # silent when all is well


@pytest.mark.skipif(os.getuid() != 0, reason="only root can build for another user to find")
def test_a_checkout_that_root_has_built_says_what_to_do(checkout):
    assert build(checkout).returncode == 0
    done = build(checkout, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    assert done.returncode == 1 and "sudo make clean" in done.stderr and len(done.stderr.splitlines()) == 1


def test_without_root_and_sudo_one_line_says_what_to_run(tmp_path):
    """On a system that has none of the packages; dpkg, id and the absence of sudo are the system's, not ours."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "env", "dirname", "sed", "tr", "sort", "cat", "apt-get"):
        (programs / name).symlink_to(shutil.which(name))
    for name, says in (("dpkg-query", "true"), ("id", "echo 1000")):
        (programs / name).write_text(f"#!/bin/sh\n{says}\n")
        (programs / name).chmod(0o755)
    done = subprocess.run([TOOLS / "setup.sh", "build"], capture_output=True, text=True, timeout=60, check=False,
                          env={"PATH": str(programs)}, stdin=subprocess.DEVNULL, start_new_session=True)
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if "libuv1-dev" in line] == done.stderr.splitlines()[-1:]
    assert "apt-get install -y --no-install-recommends" in done.stderr


SHIMS = {
    # sudo that wants a password, unless the test says otherwise; what it is given is run at once.
    "sudo": """if [ "$1 $2" = "-n true" ]; then [ -e "$STATE/no-password" ]; exit; fi
echo "sudo $*" >>"$STATE/calls"; exec "$@" """,
    "id": "echo 1000",
    "dpkg-query": """cat "$STATE/installed" """,
    "dpkg": """echo /lib/systemd/system/krb5-kdc.service; echo /etc/init.d/ntp""",
    "apt-cache": """[ "$2" != gss-ntlmssp ] && echo "Installed-Size: 1000" """,
    "apt-get": """case "$1 $*" in
update*) echo "apt-get update" >>"$STATE/calls" ;;
*--print-uris*) printf "'http://here/%s.deb' %s_1_all.deb 500000 SHA\\n" one one two two ;;
install*) echo "$*" >>"$STATE/calls"
    head -n 3 "$POLICY_RC_D" >"$STATE/policy"
    printf "krb5-kdc.service\\ndbus.service\\n" >>"$STATE/enabled"
    if [ -e "$STATE/interrupt" ]; then kill -INT $PPID; exit 100; fi
    for p; do echo "ii $p" >>"$STATE/installed"; done ;;
esac""",
    "systemctl": """case $1 in list-unit-files) sed "s/$/ enabled/" "$STATE/enabled" ;; disable) echo "$*" >>"$STATE/calls" ;; esac""",
}


class Setup:
    """tools/setup.sh, on a system whose package programs are the test's."""

    def __init__(self, folder):
        self.folder, self.policy = folder, folder / "policy-rc.d"
        (folder / "bin").mkdir()
        for name, text in SHIMS.items():
            (folder / "bin" / name).write_text(f"#!/bin/bash\n{text}\n")
            (folder / "bin" / name).chmod(0o755)
        (folder / "installed").touch()
        (folder / "enabled").write_text("ssh.service\n")

    def run(self, terminal=False):
        """Its status and what it says: at a terminal of its own, or without any."""
        env = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "STATE": str(self.folder), "POLICY_RC_D": str(self.policy)}
        ours, theirs = pty.openpty()
        done = subprocess.run(["setsid", "--wait", *(["--ctty"] if terminal else []), TOOLS / "setup.sh", "build", "failover"], env=env,
                              stdin=theirs if terminal else subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        os.close(ours)
        os.close(theirs)
        return done.returncode, done.stdout

    def calls(self, beginning):
        return [line for line in (self.folder / "calls").read_text().splitlines() if line.startswith(beginning)]


@pytest.fixture
def setup(tmp_path):
    return Setup(tmp_path)


@pytest.mark.parametrize("terminal", [True, False], ids=["asked for a password", "without a password"])
def test_sudo_is_called_once_for_all_packages_and_the_size_is_said_before(setup, terminal):
    if not terminal:
        (setup.folder / "no-password").touch()
    status, said = setup.run(terminal)
    assert status == 0, said
    assert len(setup.calls("sudo ")) == 1 and ("sudo may ask for your password" in said) == terminal
    install, = setup.calls("install ")
    assert "libuv1-dev" in install and "patroni" in install
    assert "installing 2 packages, 2 MB to fetch, " in said and said.index("MB on the disk") < said.index("installed as programs only")


def test_without_a_terminal_nobody_is_asked(setup):
    status, said = setup.run()
    assert status == 1 and not (setup.folder / "calls").exists()
    assert "run this once, as root, then try again:  apt-get update && apt-get install" in said.splitlines()[-1]


def test_nothing_is_started_and_what_was_enabled_is_disabled_again(setup):
    """dbus came along, but belongs to none of the packages: it is not ours to touch."""
    (setup.folder / "no-password").touch()
    assert setup.run()[0] == 0
    assert (setup.folder / "policy").read_text().endswith("exit 101\n"), "there while packages are installed"
    assert not setup.policy.exists() and setup.calls("disable") == ["disable --quiet krb5-kdc.service"]


def test_an_interrupted_installation_leaves_the_system_as_it_was(setup):
    for file in ("no-password", "interrupt"):
        (setup.folder / file).touch()
    assert setup.run()[0] != 0
    assert "exit 101" in (setup.folder / "policy").read_text()
    assert not setup.policy.exists() and setup.calls("disable") == ["disable --quiet krb5-kdc.service"]
    (setup.folder / "interrupt").unlink()
    setup.policy.write_text((setup.folder / "policy").read_text())         # as after kill -9
    assert setup.run()[0] == 0 and not setup.policy.exists()


def test_a_policy_of_the_system_stays(setup):
    (setup.folder / "no-password").touch()
    setup.policy.write_text("#!/bin/sh\nexit 101\n")
    assert setup.run()[0] == 0
    assert setup.policy.read_text() == "#!/bin/sh\nexit 101\n"
