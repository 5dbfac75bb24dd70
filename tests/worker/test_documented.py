"""What the documents promise is complete: every error has its row."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_every_error_number_is_documented():
    declared = re.findall(r'DOCUMENT_ERROR\(\w+,\s*(\d+), "(\w+)", (true|false),', (ROOT / "src/document/errors.def").read_text())
    said = re.findall(r"^\| (\d+) \| `(\w+)` \| (yes|no) \|", (ROOT / "docs/convert.md").read_text(), re.M)
    assert len(declared) > 25
    assert [(n, name, again == "yes") for n, name, again in said] == [(n, name, again == "true") for n, name, again in declared]
