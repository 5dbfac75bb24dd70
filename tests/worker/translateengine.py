"""The translation engine without a server (tests/support/translate_drive.c)."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("PROCESSIOND", "build/asan/src/daemon/processiond")).resolve().parents[2]
DRIVER = BUILD / "tests" / "support" / "translate-drive"
LIMIT = 240     # seconds after which a test fails: a slow machine has long done by then

needs_apertium = pytest.mark.skipif(
    not all(shutil.which(p) for p in ("apertium-wblank-mode", "tf-extract", "cg-proc")) or not pathlib.Path("/usr/share/apertium/modes/eng-spa.mode").exists(),
    reason="needs apertium, transfuse, cg3, apertium-eng-spa, apertium-spa-cat (tools/setup.sh test)")


def settings(source="en", target="es"):
    return f"<settings><SourceLanguage>{source}</SourceLanguage><TargetLanguage>{target}</TargetLanguage></settings>"


def start(documents, *options, job=None):
    """documents: pairs of input and output. Returns the running driver."""
    words = [str(DRIVER), *map(str, options)]
    for source, target in documents:
        words += [job or settings(), str(source), str(target)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")


def results(driver):
    out, err = driver.communicate(timeout=LIMIT)
    assert driver.returncode == 0, err
    return {pathlib.Path(r["input"]).name: r for r in map(json.loads, out.splitlines())}


def translate(documents, *options, job=None):
    return results(start(documents, *options, job=job))


def translate_one(source, target, *options, job=None):
    return translate([(source, target)], *options, job=job)[source.name]


def succeeds(source, target, *options, job=None):
    result = translate_one(source, target, *options, job=job)
    assert result["error"] == 0, result
    return target


def fails(name, source, target, *options, job=None):
    """Fails with this error; returns what people are told."""
    result = translate_one(source, target, *options, job=job)
    assert result["name"] == name, result
    assert result["text"]
    return result["text"]
