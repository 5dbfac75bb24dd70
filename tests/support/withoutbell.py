"""A server that has the procedures of the specifications and none of our own, as others would have it: a real one, behind a network
that misspells procession_wait_for_work, procession_item_failed and procession_worker_here on their way, so that the server answers that there are no such
procedures. Needs --encrypt off."""
import contextlib
import socket
import threading
import types

# Each as long as what it replaces: no length in the packet changes.
OTHERS = {"procession_wait_for_work": "procession_wait_for_rain", "procession_item_failed": "procession_item_fallen",
          "procession_worker_here": "procession_worker_hear"}


def carry(source, target, change, seen):
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            for name, other in OTHERS.items() if change else ():
                ours = name.encode("utf-16-le")
                if ours in piece:
                    seen.append(name)
                    piece = piece.replace(ours, other.encode("utf-16-le"))
            target.sendall(piece)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def without_bell(server):
    """Looks like the server. `asked` has the name of each call that went astray."""
    listener, asked = socket.create_server(("127.0.0.1", 0)), []

    def accept():
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                behind = socket.create_connection((server.host, server.port))
                for ends in ((client, behind, True), (behind, client, False)):
                    threading.Thread(target=carry, args=(*ends, asked), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield types.SimpleNamespace(address=f"127.0.0.1:{listener.getsockname()[1]}", password=server.password, asked=asked)
    finally:
        listener.close()
