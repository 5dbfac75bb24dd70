"""The parts of tools/procgen.py: reading declarations, rewriting SQL, writing tables, metadata and manual pages."""
