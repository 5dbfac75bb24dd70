"""What the outside tests share: a server of their own (server.py), a client of our own for the wire (wire.py)."""
