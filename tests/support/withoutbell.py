"""A server that has the procedures of the specifications and none of our own, as others would have it: a real one, behind a network
that misspells procession_wait_for_work on its way, so that the server answers that there is no such procedure. Needs --encrypt off."""
import contextlib
import socket
import threading
import types

NAME, OTHER = (name.encode("utf-16-le") for name in ("procession_wait_for_work", "procession_wait_for_rain"))


def carry(source, target, change, seen):
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            if change and NAME in piece:
                seen.append(NAME.decode("utf-16-le"))
                piece = piece.replace(NAME, OTHER)      # as long: no length in the packet changes
            target.sendall(piece)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def without_bell(server):
    """Looks like the server. `asked` grows with each call that went astray."""
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
