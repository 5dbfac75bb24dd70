"""Fixtures of the tests of workers: a server for each file, folders of documents, workers that are removed afterwards."""
import shutil

import pytest

from support.workers import Queue, Worker, short_docx


@pytest.fixture
def queue(own_server):
    return Queue(own_server)


@pytest.fixture
def folder(tmp_path):
    """folder(n) has n short documents, d1.docx and so on; folder.names are they."""
    made = tmp_path / "documents"
    made.mkdir()

    class Folder:
        path, names = made, []

        def fill(self, n):
            self.names = [f"d{i}.docx" for i in range(1, n + 1)]
            for name in self.names:
                (made / name).write_bytes(short_docx(f"This is {name}"))
            return self

        def outputs(self):
            return [made / name.replace(".docx", ".pdf") for name in self.names]

        def parts(self):
            return [p.name for p in made.rglob(".procession-*")]

    return Folder()


@pytest.fixture
def new_worker(own_server, folder):
    """new_worker(**settings): not started yet."""
    if not shutil.which("soffice"):
        pytest.skip("LibreOffice is not installed: apt-get install libreoffice-writer")
    made = []

    def make(root=None, server=own_server, **options):
        made.append(Worker(server, root or folder.path, **options))
        return made[-1]

    yield make
    for each in made:
        each.remove()
