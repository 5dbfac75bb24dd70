"""Converting 40 documents to PDF: the converter's engine beside LibreOffice as people use it, on the same machine in the same run."""
import contextlib
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import threading
import time

import documents
from daemons import BENCH

OFFICE = pathlib.Path("/usr/lib/libreoffice/program")
# As LibreOffice does by itself, so that both do the same work.
SETTINGS = ("<ConversionJobSettings><OutputFormat>PDF</OutputFormat><FixedFormatSettings><IncludeDocumentStructure>false"
            "</IncludeDocumentStructure></FixedFormatSettings></ConversionJobSettings>")
LIMIT = 600
GROUP = "http://schemas.microsoft.com/office/server/word/2009/08/databaseJobAdd"
ROUNDS = 40      # short documents, one after the other, end to end


def need():
    for path, package in ((OFFICE / "libswlo.so", "libreoffice-writer"), (OFFICE / "pyuno.so", "python3-uno")):
        if not path.exists() and not list(pathlib.Path("/usr/lib/python3/dist-packages").glob("pyuno*")):
            raise RuntimeError(f"{path} is not there: sudo apt-get install {package}")


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def checked(folder, files):
    made = [folder / (f.stem + ".pdf") for f in files]
    missing = [p.name for p in made if not p.exists() or p.read_bytes()[:5] != b"%PDF-"]
    if missing:
        raise RuntimeError(f"no PDF: {missing}")


def timed(way, files, folder, run, slots=1):
    """Runs it and looks at every output. CPU is that of everything that was waited for, and what the run itself says."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    before, began = children_cpu(), time.monotonic()
    more = run(folder) or {}
    seconds, cpu = time.monotonic() - began, children_cpu() - before
    seconds, cpu = more.pop("seconds", seconds), more.pop("cpu", cpu)
    checked(folder, files)
    return {"way": way, "slots": slots, "documents": len(files), "per_minute": len(files) / seconds * 60,
            "cpu_s_per_document": cpu / len(files), **more}


# --- the converter ---

class Engine:
    """tests/support/enginedriver.c: the engine without a server."""

    def __init__(self, tools, **options):
        self.process = subprocess.Popen(
            [str(tools / "enginedriver"), *(f"{k}={v}" for k, v in options.items())], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, bufsize=1, env=dict(os.environ, PROCESSION_LIBEXEC=str(tools / "src/convert")))
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("the converter did not start")

    def convert(self, files, folder):
        for i, f in enumerate(files):
            self.process.stdin.write(f"convert\t{i}\t{f}\t{folder / (f.stem + '.pdf')}\t1\t{LIMIT}\t{SETTINGS}\n")
        cpu, wall = 0, []
        for _ in files:
            kind, _, error, _, cpu_ms, wall_ms, text = self.process.stdout.readline().rstrip("\n").split("\t")
            if kind != "result" or error != "0":
                raise RuntimeError(f"conversion: {text}")
            cpu += int(cpu_ms)
            wall.append(int(wall_ms))
        return {"cpu": cpu / 1000, "p50_ms": statistics.median(wall)}

    def stop(self):
        self.process.stdin.close()
        self.process.wait(LIMIT)


def by_engine(bench, files, slots, jail="on", way="engine"):
    engine = Engine(bench.tools, slots=slots, jail=jail)
    try:
        engine.convert(files[:1], bench.folder)         # LibreOffice is ready
        return timed(way, files, bench.folder / f"{way}-{slots}-{jail}", lambda folder: engine.convert(files, folder), slots) | {"jail": jail}
    finally:
        engine.stop()


# --- a worker and its server ---

class Worker:
    """`procession worker convert`, from the start of its process on."""

    def __init__(self, bench, server, state):
        config = bench.folder / "worker.ini"
        config.write_text(f"[worker]\nroots = {bench.folder}\nslots = 1\nlog_level = error\n", encoding="ascii")
        self.began = time.monotonic()
        self.process = subprocess.Popen([str(bench.tools / "src/cli/procession"), "worker", "convert", "--server", server.address,
                                         "--password-file", str(server.password), "--config", str(config), "--state", str(bench.folder / state)])

    def stop(self):
        self.process.terminate()
        self.process.wait(LIMIT)


@contextlib.contextmanager
def queue_of(server):
    """A cursor in the database of the jobs."""
    sys.path.append("/usr/lib/python3/dist-packages")
    import pytds
    host, port = server.address.rsplit(":", 1)
    with pytds.connect(host, "WordAutomation", "sa", pathlib.Path(server.password).read_text(encoding="ascii").strip(), port=int(port), autocommit=True) as db:
        with db.cursor() as cursor:
            yield cursor


def submit(cursor, job, name, source, target):
    cursor.execute("EXEC proc_AddJob @JobId = %s, @Settings = %s", (job, SETTINGS))
    cursor.execute("EXEC proc_AddGroup @JobId = %s, @GroupId = 1, @InputRoot = %s, @OutputRoot = %s, @MaxAttemptsCount = 1, @JobXml = %s",
                   (job, str(source), str(target), f'<group xmlns="{GROUP}"><item id="1" in="{name}" out="{job}.pdf"/></group>'))
    cursor.execute("EXEC proc_SubmitJob @JobId = %s", (job,))


def is_done(cursor, job):
    cursor.execute("EXEC proc_GetJobStatus @JobId = %s", (job,))
    total, _, _, _, succeeded, failed, *_ = cursor.fetchone()
    if failed:
        raise RuntimeError(f"job {job} failed")
    return succeeded == total


def await_report(cursor, job):
    """Asked for every two milliseconds."""
    while not is_done(cursor, job):
        time.sleep(0.002)


def one_by_one(cursor, files, target, rest):
    """Milliseconds from the submission to the report."""
    took = []
    for i in range(ROUNDS):
        time.sleep(rest)
        name, job = files[i % len(files)].name, int(time.time() * 1e6)
        began = time.monotonic()
        submit(cursor, job, name, files[0].parent, target)
        await_report(cursor, job)
        took.append((time.monotonic() - began) * 1000)
    return took


def first_document(bench, server, files, turn):
    """From the start of a worker's process to the report of its first document, which was waiting for it."""
    target, job = bench.folder / "first", int(time.time() * 1e6)
    target.mkdir(exist_ok=True)
    with queue_of(server) as cursor:
        submit(cursor, job, files[0].name, files[0].parent, target)
        worker = Worker(bench, server, f"first-state-{turn}")
        try:
            await_report(cursor, job)
            return {"way": "first", "seconds": time.monotonic() - worker.began}
        finally:
            worker.stop()


def end_to_end(bench, server, files):
    """Short documents submitted to a server, converted by a worker that was idle, reported."""
    target, worker = bench.folder / "end-to-end", Worker(bench, server, "worker-state")
    target.mkdir(exist_ok=True)
    try:
        with queue_of(server) as cursor:
            one_by_one(cursor, files[:1], target, 0)        # LibreOffice is ready
            took = sorted(one_by_one(cursor, files, target, 0.05))
    finally:
        worker.stop()
    return {"way": "end to end", "documents": len(took), "p50_ms": took[len(took) // 2], "p95_ms": took[len(took) * 95 // 100], "max_ms": took[-1]}


# --- LibreOffice as people use it ---

def soffice(profile, files, folder):
    subprocess.run([str(OFFICE / "soffice"), "--headless", f"-env:UserInstallation=file://{profile}", "--convert-to", "pdf", "--outdir", str(folder),
                    *map(str, files)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT)


def once_a_document(bench, files):
    def run(folder):
        for f in files:
            soffice(bench.folder / "profile", [f], folder)
    return timed("soffice-each", files, bench.folder / "each", run)


def all_at_once(bench, files):
    return timed("soffice-all", files, bench.folder / "all", lambda folder: soffice(bench.folder / "profile", files, folder))


def over_uno(bench, files):
    """Two instances that run all the time, each fed by its own client."""
    offices = []
    for i in range(2):
        soffice(bench.folder / f"uno{i}", files[:1], bench.folder)      # its first start makes a profile, and ends
        pipe = f"procession-bench-{os.getpid()}-{i}"
        process = subprocess.Popen(
            [str(OFFICE / "soffice.bin"), "--headless", "--norestore", f"-env:UserInstallation=file://{bench.folder}/uno{i}",
             f"--accept=pipe,name={pipe};urp;"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        offices.append((process, pipe))

    def feed(i, part, folder):
        subprocess.run(["/usr/bin/python3", str(BENCH / "peers/uno_client.py"), offices[i][1], str(folder), *map(str, part)], check=True, timeout=LIMIT)

    def cpu():
        total = 0
        for process, _ in offices:
            fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return total

    def run(folder):
        for i in range(2):
            feed(i, files[:1], folder)                  # they are ready
        before, began = cpu(), time.monotonic()
        threads = [threading.Thread(target=feed, args=(i, files[i::2], folder)) for i in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return {"seconds": time.monotonic() - began, "cpu": cpu() - before}

    try:
        return timed("soffice-uno", files, bench.folder / "uno", run, 2)
    finally:
        for process, _ in offices:
            process.terminate()
            process.wait(LIMIT)


# --- the scenario ---

def best(runs):
    return max(runs, key=lambda r: r["per_minute"])


def convert(bench):
    """Documents to PDF: the converter beside plain LibreOffice."""
    need()
    server, source = bench.server("convert-server"), bench.folder / "documents"
    source.mkdir()
    kinds = documents.write(source)
    files = [f for kind in kinds.values() for f in kind]
    soffice(bench.folder / "profile", files[:1], bench.folder)          # its first start makes a profile
    ways = {
        "one slot": lambda: by_engine(bench, files, 1),
        "two slots": lambda: by_engine(bench, files, 2),
        "each": lambda: once_a_document(bench, files),
        "all": lambda: all_at_once(bench, files),
        "uno": lambda: over_uno(bench, files),
        "short": lambda: by_engine(bench, kinds["short"] * 3, 1, way="engine-short"),
        "short, no jail": lambda: by_engine(bench, kinds["short"] * 3, 1, "off", way="engine-short"),
    }
    runs = {"end to end": [end_to_end(bench, server, kinds["short"])]}
    print("  end to end      p50 {p50_ms:.0f} ms, p95 {p95_ms:.0f} ms".format(**runs["end to end"][0]), flush=True)
    for turn in range(bench.args.rounds or (3 if bench.args.full else 2)):
        for name, way in ways.items():
            result = way()
            print(f"  {name:15} {result['per_minute']:6.0f} documents a minute, {result['cpu_s_per_document']:.3f} s CPU a document", flush=True)
            runs.setdefault(name, []).append(result)
        runs.setdefault("first", []).append(first_document(bench, server, kinds["short"], turn))
        print("  first document  {seconds:.2f} s after the start of a worker".format(**runs["first"][-1]), flush=True)
    alone = (min(runs.pop("first"), key=lambda r: r["seconds"]), runs.pop("end to end")[0])
    out = [best(r) for r in runs.values()] + list(alone)
    bench.save("convert", [r | {"load": os.getloadavg()[0]} for r in out])
