"""Fixtures of the tests of workers: a server for each file, folders of documents, workers that are removed afterwards."""
import pytest

from support.workers import CONVERT, Queue, Worker, short_docx


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

        def outputs(self, service=CONVERT):
            return [made / service.output_name(name) for name in self.names]

        def parts(self):
            return [p.name for p in made.rglob(".procession-*")]

    return Folder()


@pytest.fixture
def new_worker(own_server, folder):
    """new_worker(**settings): not started yet."""
    made = []

    def make(root=None, server=own_server, service=CONVERT, **options):
        service.need()
        made.append(Worker(server, root or folder.path, service=service, **options))
        return made[-1]

    yield make
    for each in made:
        each.remove()
