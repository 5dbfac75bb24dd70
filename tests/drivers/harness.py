"""Runs a driver's program and reads what it says: one JSON line a feature, {"feature": …, "ok": …, "note": …}."""
import json
import subprocess

import pytest

import registry


def run(command, env, timeout=120, **more):
    return subprocess.run(command, env=env, capture_output=True, text=True, errors="replace", timeout=timeout, **more)


def must(command, env=None, timeout=300, **more):
    done = run(command, env, timeout, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


def run_program(command, env, timeout=120, **more):
    """All features of a program: {feature: (ok, note)}; what it did not come to is missing."""
    try:
        done = run(command, env, timeout, **more)
        out, err, status = done.stdout, done.stderr, done.returncode
    except subprocess.TimeoutExpired as e:
        out, err, status = ((e.stdout or b"").decode("utf-8", "replace"), (e.stderr or b"").decode("utf-8", "replace"), "none (time-out)")
    results = {}
    for line in out.splitlines():
        if line.startswith("{"):
            item = json.loads(line)
            results[item["feature"]] = (item["ok"], item.get("note", ""))
    results["_end"] = (status == 0, f"status {status}\n{out[-1500:]}\n{err[-1500:]}")
    return results


def check(results, feature):
    assert feature in results, "the program did not come to it: " + results["_end"][1]
    ok, note = results[feature]
    assert ok, note


def features(driver):
    """Parameters of a test that runs once for every feature of the driver."""
    return [pytest.param(f, marks=pytest.mark.feature(driver, f)) for f in registry.features_of(driver)]
