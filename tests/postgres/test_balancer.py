"""HAProxy in front of two servers, by the sample of packaging/haproxy: a server that stops gets no new connection, and those that it has end
after their current request."""
import contextlib
import pathlib
import re
import shutil
import signal
import subprocess
import time
import uuid

import pytest

from support.calls import open_path
from support.patroni import free_ports
from support.server import ROOT, Server


class Front:
    """Looks like a server to a client."""

    def __init__(self, port, password):
        self.host, self.port, self.password = "127.0.0.1", port, password


def sample(tmp_path, servers, webs):
    """The sample with our ports; its checks without TLS, since our HTTP side is on loopback."""
    port, text = free_ports(1)[0], (ROOT / "packaging/haproxy/haproxy.cfg").read_text()
    text = re.sub(r"    server pr.*\n", "", text).replace("bind :1433", f"bind 127.0.0.1:{port}").replace(" port 8433", "").replace("maxconn 20000", "maxconn 200")
    text += "".join(f"    server s{i} 127.0.0.1:{s.port} port {web}\n" for i, (s, web) in enumerate(zip(servers, webs)))
    path = pathlib.Path(tmp_path) / "haproxy.cfg"
    path.write_text(text)
    return port, path


@pytest.mark.skipif(shutil.which("haproxy") is None, reason="haproxy is not installed (tools/setup.sh failover)")
def test_a_server_is_drained_before_it_stops(pg, tmp_path):
    name = "d" + uuid.uuid4().hex[:12]
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute(f"CREATE DATABASE {name}")
    webs = free_ports(2)
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(settings={"engine": "postgres", "postgres": pg.conninfo(name), "http": f"127.0.0.1:{web}", "drain_delay": 4}))
                   for web in webs]
        port, config = sample(tmp_path, servers, webs)
        proxy = stack.enter_context(subprocess.Popen(["haproxy", "-db", "-f", str(config)]))
        stack.callback(proxy.terminate)
        front = Front(port, servers[0].password)

        def ask(text):
            with open_path("wire", front, "StateService") as db:
                answer = db.batch(text)
                assert answer.error is None, answer
                return answer

        until = time.monotonic() + 30
        while True:
            try:
                ask("EXEC proc_AddItem 'a', 0x01, 20")
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.1)
        with open_path("wire", servers[0], "StateService") as kept:
            servers[0].signal(signal.SIGTERM)
            began = time.monotonic()
            for _ in range(30):         # before, while and after it closes its door: nobody is refused
                ask("SELECT COUNT(*) FROM Items")
                time.sleep(0.2)
            assert time.monotonic() - began > 4
            with contextlib.suppress(OSError, EOFError, AssertionError):
                kept.batch("SELECT 1")
        assert servers[0].process.wait(30) == 0
        ask("SELECT COUNT(*) FROM Items")
