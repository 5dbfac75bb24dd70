"""The server without sanitizer (PROCESSIOND_PLAIN, see clock.find_plain): for memory that is measured and values that are huge."""
import pathlib
import re

from support.clock import find_plain
from support.server import Server


class PlainServer(Server):
    def __init__(self, **options):
        self.plain = find_plain()
        super().__init__(**options)

    def arguments(self):
        return [str(self.plain)] + super().arguments()[1:]

    def _status_bytes(self, name):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(rf"{name}:\s+(\d+)", text).group(1)) << 10

    def peak_bytes(self):
        return self._status_bytes("VmHWM")

    def resident_bytes(self):
        return self._status_bytes("VmRSS")
