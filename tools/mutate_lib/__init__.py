"""The parts of tools/mutate.py: breaking declarations, building servers of them, running tests against these."""
