"""The examples of README.md and docs/drivers.md, run as they stand but for address and password: what people copy must work."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from support.calls import open_path
from support.server import command_binary

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
JTDS = "/usr/share/java/jtds.jar"
NODE_MODULES = ROOT / "tests/drivers/node/node_modules"


def blocks(page):
    return BLOCK.findall((ROOT / page).read_text())


def example(language, server):
    text = next(body for name, body in blocks("README.md") + blocks("docs/drivers.md") if name == language)
    user = text.replace("secret", server.password).replace("'web'", "'sa'").replace('"web"', '"sa"').replace("User ID=web", "User ID=sa")
    return user.replace("1433", str(server.port)).replace("server: '127.0.0.1'", f"server: '127.0.0.1', port: {server.port}")


def run(*command, **options):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=120, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def need(*things):
    for thing in things:
        if not (pathlib.Path(thing).exists() or shutil.which(thing)):
            pytest.skip(f"{thing} is not installed")


def test_python(server, tmp_path):
    pytest.importorskip("pytds")
    program = tmp_path / "example.py"
    program.write_text(example("python", server))
    assert r"b'\x01\x02'" in run(sys.executable, program)


def test_node(server, tmp_path):
    need("node", NODE_MODULES / "mssql")
    program = tmp_path / "example.js"
    program.write_text(example("js", server))
    assert "<Buffer 01 02> false" in run("node", program, env=dict(os.environ, NODE_PATH=str(NODE_MODULES)))


def test_java(server, tmp_path):
    need("javac", JTDS)
    (tmp_path / "Basket.java").write_text(example("java", server))
    run("javac", "-d", tmp_path, "-cp", JTDS, tmp_path / "Basket.java")
    assert "2 bytes, locked: false" in run("java", "-cp", f"{tmp_path}:{JTDS}", "Basket")


def test_csharp(server, tmp_path):
    need("mcs", "mono")
    (tmp_path / "Basket.cs").write_text(example("csharp", server))
    run("mcs", f"-out:{tmp_path}/basket.exe", "-r:System.Data.dll", tmp_path / "Basket.cs")
    assert "2 bytes, locked: False" in run("mono", tmp_path / "basket.exe")


def test_php(server, tmp_path):
    need("php")
    program = tmp_path / "example.php"
    program.write_text(example("php", server))
    assert re.search(r"\[item\] => 0x0102\s+\[locked\] => 0", run("php", program))


def test_the_demonstration(new_server):
    """Every line of the README that begins with build/procession, as it stands but for the folder."""
    server = new_server(password=None)          # the password is where the first start puts it
    lines = [line for name, body in blocks("README.md") if name == "sh" for line in body.splitlines() if line.startswith("build/procession")]
    shown = {}
    for line in lines:
        words = shlex.split(line)
        assert words[1:3] == ["--data", "procession-data"]
        shown[words[3], words[4] if len(words) > 4 else ""] = run(command_binary(), "--data", server.data, *words[3:])
    assert "StateService" in shown["status", ""]
    assert "nightly import" in shown["schedule", "list"]
    password = shown["login", "add"].split()[-1]
    with open_path("wire", server, "StateService", user="web", password=password) as db:
        assert db.call("proc_AddItem", id="demo", item=b"1", timeout=20).status == 0
