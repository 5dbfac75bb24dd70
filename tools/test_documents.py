"""Converts every document of a folder to PDF, in a place of its own, and prints what failed: make test-documents DIR=…

The documents are left alone. Each PDF is opened by pdfinfo; failures are listed by their error, with the number of each. The status is 1
when a document was not converted for a reason that is not the document's (it crashed, took too long, has no reason), or a PDF is broken."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = {"WorkerFailed", "Timeout", "NotAssignedToWorker", "UnknownFailure", "OutOfMemory", "EngineMissing"}


def convert(folder, work):
    env = {k: v for k, v in os.environ.items() if k != "PROCESSION_SERVER"}
    env |= {"HOME": str(work / "home"), "XDG_DATA_HOME": "", "XDG_STATE_HOME": ""}
    (work / "home").mkdir()
    done = subprocess.run([str(ROOT / "build/procession"), "convert", str(folder), "--to", "pdf", "--out", str(work / "out"), "--recursive", "--json"],
                          env=env, stdout=subprocess.PIPE, text=True, check=False)
    if not done.stdout.startswith("{"):
        sys.exit(f"test-documents: procession convert ended with status {done.returncode}: {done.stdout.strip() or 'there is no document'}")
    return json.loads(done.stdout)


def broken(out):
    """Those that pdfinfo cannot open."""
    for path in sorted(out.rglob("*.pdf")):
        if subprocess.run(["pdfinfo", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode != 0:
            yield path.relative_to(out)


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("usage: make test-documents DIR=/folder/of/documents")
    with tempfile.TemporaryDirectory(prefix="procession-documents-", dir="/var/tmp") as name:
        work = pathlib.Path(name)
        told = convert(pathlib.Path(sys.argv[1]).resolve(), work)
        wrong = list(broken(work / "out"))
    for failure in told["failures"]:
        print(f"failed  {failure['Document']}: {failure['Error']}: {failure['Why']}")
    for path in wrong:
        print(f"broken  {path}: pdfinfo cannot open it")
    for error, count in collections.Counter(f["Error"] for f in told["failures"]).most_common():
        print(f"{count:6}  {error}")
    print(f"{told['documents']} documents: {told['succeeded']} converted, {told['failed']} failed, {len(wrong)} broken, "
          f"{told['documents'] / max(told['seconds'], 0.1) * 60:.0f} a minute")
    sys.exit(bool(wrong or told["left"] or any(f["Error"] in OURS for f in told["failures"])))


main()
