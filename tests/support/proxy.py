"""A forwarder between a server and its PostgreSQL, for what happens to connections on their way: a firewall that forgets them without a word,
an answer that is lost.

    with Proxy(pg.folder / ".s.PGSQL.5432") as proxy:
        f"host=127.0.0.1 port={proxy.port}"
        proxy.silence()         # what is connected now gets nothing through any more, in either direction; new connections do
        proxy.hold_answers()    # what the server sends arrives, what it would be answered does not
"""
import contextlib
import select
import socket
import threading


class Proxy:
    def __init__(self, path):
        self.path, self.listener = str(path), socket.create_server(("127.0.0.1", 0))
        self.port, self.pairs, self.stopped = self.listener.getsockname()[1], [], threading.Event()

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.listener.close()
        for pair in self.pairs:
            pair["client"].close()
            pair["server"].close()

    def _accept(self):
        while not self.stopped.is_set():
            with contextlib.suppress(OSError):
                client, _ = self.listener.accept()
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(self.path)
                except OSError:
                    client.close()
                    continue
                pair = {"client": client, "server": server, "to_server": True, "to_client": True}
                self.pairs.append(pair)
                threading.Thread(target=self._forward, args=(pair,), daemon=True).start()

    def _forward(self, pair):
        client, server = pair["client"], pair["server"]
        with contextlib.suppress(OSError, ValueError):
            while not self.stopped.is_set():
                wanted = ([client] if pair["to_server"] else []) + ([server] if pair["to_client"] else [])
                if not wanted:
                    self.stopped.wait(0.05)
                    continue
                for each in select.select(wanted, [], [], 0.05)[0]:
                    if not pair["to_server" if each is client else "to_client"]:
                        continue
                    data = each.recv(65536)
                    if not data:
                        client.close()
                        server.close()
                        return
                    (server if each is client else client).sendall(data)

    def silence(self):
        for pair in self.pairs:
            pair["to_server"] = pair["to_client"] = False

    def hold_answers(self):
        for pair in self.pairs:
            pair["to_client"] = False
