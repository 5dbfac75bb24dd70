"""What all behaviour tests share: the marker that names requirements."""


def pytest_configure(config):
    config.addinivalue_line("markers", "proves(*ids): the requirements of tests/requirements.tsv that this test proves")
