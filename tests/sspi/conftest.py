"""A realm, and a server that belongs to it: what the tests of integrated logins are given."""
import pathlib
import shutil
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from kdc import TOOLS, Kdc, find  # noqa: E402
from realm import ALICE, Realm  # noqa: E402

@pytest.fixture(scope="session", autouse=True)
def packages():
    """What the tests cannot do without."""
    missing = [name for name in TOOLS if not find(name)]
    if missing:
        pytest.skip(f"{', '.join(missing)} not found: install krb5-kdc, krb5-admin-server and krb5-user (tools/setup.sh test)")
    if not list(pathlib.Path("/usr").glob("lib*/**/gssntlmssp.so")):
        pytest.skip("the NTLM mechanism is not there: install gss-ntlmssp (tools/setup.sh test)")


@pytest.fixture(scope="session")
def kdc(packages):
    with Kdc() as made:
        for name in ("alice", "carol", "dave", "mallory", "staff/admin"):
            made.user(name, name.split("/")[0] + "s-pw")
        yield made


@pytest.fixture(scope="session")
def realm(kdc, tmp_path_factory):
    made = Realm(kdc, tmp_path_factory.mktemp("realm"), principal_map="TEST.LOCAL\\carol=sa-like; CORP\\*=TEST.LOCAL\\alice; TEST.LOCAL\\*/admin=TEST.LOCAL\\alice")
    yield made
    made.stop()


@pytest.fixture
def new_realm(kdc, tmp_path_factory):
    """new_realm(env={…}, setting=value) starts one more server of the realm."""
    made = []

    def make(**options):
        made.append(Realm(kdc, tmp_path_factory.mktemp("realm"), **options))
        return made[-1]

    yield make
    for each in made:
        each.stop()


@pytest.fixture(scope="session")
def ticket(kdc):
    """Alice's."""
    return kdc.ticket(*ALICE)


@pytest.fixture
def need():
    """need("javac") gives the program's path, or skips the test and says why."""
    def find_program(name, package):
        path = shutil.which(name)
        if not path:
            pytest.skip(f"{name} is missing: install {package}")
        return path
    return find_program
