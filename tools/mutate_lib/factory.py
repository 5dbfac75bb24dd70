"""Making a server of a broken declaration.

Only the tables that procgen makes are compiled and linked again: the objects of the plain build stay as they are, and
the new tables go before its archive, whose own are then not taken. That takes half a second of a processor.
"""
import json
import os
import shlex
import shutil
import subprocess

from procgen_lib import declare, emit_c, emit_meta, verify

TABLES = ("catalogue_tables.c", "catalogue_meta.c")


class Factory:
    """Reads the declarations and the commands of the plain build once; make() is called in a child."""

    def __init__(self, root):
        self.root, self.meson = root, os.path.join(root, "build", "meson")
        self.services, _ = declare.read_all(os.path.join(root, "procedures"))
        self.compile = self._compile_command()
        self.link = self._link_command()

    def _compile_command(self):
        """Of the tables, without warnings and optimising: they are data."""
        with open(os.path.join(self.meson, "compile_commands.json"), encoding="utf-8") as f:
            entry = next(e for e in json.load(f) if e["file"].endswith(TABLES[0]))
        words = shlex.split(entry["command"])
        words = words[1:] if words[0].endswith("ccache") else words
        kept = [w for w in words if w.startswith(("-I", "-D", "-f", "-std"))]
        return [words[0]] + kept + ["-w", "-O0", "-U_FORTIFY_SOURCE"]

    def _link_command(self):
        done = subprocess.run(["ninja", "-C", self.meson, "-t", "commands", "src/daemon/processiond"], check=True, capture_output=True, text=True)
        words = shlex.split(done.stdout.splitlines()[-1])
        return words + ["-Wl,-S"] + (["-fuse-ld=gold"] if shutil.which("ld.gold") else [])

    def break_services(self, mutant):
        """The services with the mutant in the place of its procedure; DeclarationError when it makes no sense."""
        name = mutant.source.name.split("/")[0]
        service = next(s for s in self.services if s.name == name)
        broken = declare.Reader(mutant.source.path, mutant.text, mutant.source.shown).read()
        service.procs = [broken if p.path == mutant.source.path else p for p in service.procs]
        declare.number_statements(service)
        db = verify.open_store(service)
        for step in broken.steps:
            verify.verify_step(db, service, broken, step)
        db.close()

    def make(self, mutant, folder):
        """Builds folder/processiond; mutant None: with the declarations as they are."""
        if mutant is not None:
            self.break_services(mutant)
        objects = []
        for name, text in zip(TABLES, (emit_c.tables(self.services), emit_meta.source(self.services))):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            objects.append(path[:-2] + ".o")
            subprocess.run(self.compile + ["-c", path, "-o", objects[-1]], cwd=self.meson, check=True)
        server = os.path.join(folder, "processiond")
        at = self.link.index("-o")
        subprocess.run(self.link[:at] + ["-o", server] + objects + self.link[at + 2:], cwd=self.meson, check=True)
        return server
