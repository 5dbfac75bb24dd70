#!/usr/bin/env python3
"""procgen — turns the declarations in procedures/ into C tables, metadata and manual pages.

  tools/procgen.py --out DIR [--depfile FILE]    catalogue_tables.c, _meta.c and _postgres.c into DIR (the build does this)
  tools/procgen.py --sql DIR                     the same for PostgreSQL, as scripts for psql (tests do this)
  tools/procgen.py --docs [DIR]                  the manual pages, into docs/procedures
  tools/procgen.py --check                       are the committed manual pages those of the declarations?

Mistakes are reported as file:line: text, and nothing is written.
"""
import argparse
import os
import sys

from procgen_lib import declare, emit_c, emit_docs, emit_meta, emit_pg

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def write(path, text):
    """Leaves an unchanged file alone, so that nothing is compiled again without need."""
    try:
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return
    except OSError:
        pass
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def existing_pages(folder):
    found = set()
    for base, _, files in os.walk(folder):
        found |= {os.path.relpath(os.path.join(base, f), folder) for f in files if f.endswith(".md")}
    return found


def write_docs(services, folder):
    pages = emit_docs.pages(services)
    for name, text in pages.items():
        write(os.path.join(folder, name), text)
    for name in existing_pages(folder) - set(pages):
        os.remove(os.path.join(folder, name))


def check_docs(services, folder):
    pages, bad = emit_docs.pages(services), []
    for name, text in sorted(pages.items()):
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                if f.read() != text:
                    bad.append(f"{name} differs")
        except OSError:
            bad.append(f"{name} is missing")
    bad += [f"{name} has no declaration" for name in sorted(existing_pages(folder) - set(pages))]
    for b in bad:
        print(f"docs/procedures: {b}", file=sys.stderr)
    if bad:
        print("Run tools/procgen.py --docs and commit the pages.", file=sys.stderr)
    return 1 if bad else 0


def write_tables(services, inputs, procedures, out, depfile):
    scripts = emit_pg.Scripts(procedures)
    outputs = {"catalogue_tables.c": emit_c.tables(services), "catalogue_meta.c": emit_meta.source(services),
               "catalogue_postgres.c": emit_pg.tables(services, scripts)}
    for name, text in outputs.items():
        write(os.path.join(out, name), text)
    if depfile:
        lib = os.path.join(ROOT, "tools", "procgen_lib")
        files = inputs + [os.path.join(lib, f) for f in sorted(os.listdir(lib)) if f.endswith(".py")]
        listed = " ".join(f.replace(" ", "\\ ") for f in files)
        write(depfile, "".join(f"{os.path.join(out, name)}: {listed}\n" for name in outputs))


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--procedures", default=os.path.join(ROOT, "procedures"), help="folder of the declarations")
    parser.add_argument("--out", help="folder for the C files")
    parser.add_argument("--depfile", help="file for the list of inputs, in make's form")
    parser.add_argument("--sql", help="folder for the scripts of PostgreSQL")
    parser.add_argument("--docs", nargs="?", const=os.path.join(ROOT, "docs", "procedures"), help="write the manual pages")
    parser.add_argument("--check", action="store_true", help="compare the manual pages")
    args = parser.parse_args(argv)
    if not (args.out or args.sql or args.docs or args.check):
        parser.error("one of --out, --sql, --docs and --check is needed")
    try:
        services, inputs = declare.read_all(args.procedures)
        try:
            from procgen_lib import verify
        except ImportError:                 # a Python without SQLite: the store will find the same mistakes later
            verify = None
        if verify:
            verify.verify(services)
    except declare.DeclarationError as e:
        print(e, file=sys.stderr)
        return 1
    if args.out:
        folder = os.path.join(args.procedures, "postgres")
        scripts = [os.path.join(folder, f) for f in sorted(os.listdir(folder))]
        write_tables(services, inputs + scripts, args.procedures, args.out, args.depfile)
    if args.sql:
        for name, text in emit_pg.files(services, emit_pg.Scripts(args.procedures)).items():
            write(os.path.join(args.sql, name), text)
    if args.docs:
        write_docs(services, args.docs)
    if args.check:
        return check_docs(services, os.path.join(ROOT, "docs", "procedures"))
    return 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(sys.argv[1:]))
