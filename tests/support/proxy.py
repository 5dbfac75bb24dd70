"""A forwarder between a server and its PostgreSQL, for what happens to connections on their way: a firewall that forgets them without a word,
an answer that is lost.

    with Proxy(pg.folder / ".s.PGSQL.5432") as proxy:
        f"host=127.0.0.1 port={proxy.port}"
        proxy.silence()         # what is connected now gets nothing through any more, in either direction; new connections do
        proxy.lose_answer()     # the next COMMIT arrives, is done, and its connection is cut before the answer
        proxy.lose_commit()     # it is cut before that COMMIT arrives
        proxy.lost              # how many were
"""
import contextlib
import select
import socket
import threading


class Proxy:
    def __init__(self, path):
        self.path, self.listener = str(path), socket.create_server(("127.0.0.1", 0))
        self.port, self.pairs, self.stopped = self.listener.getsockname()[1], [], threading.Event()
        self.lock, self.loses, self.lost = threading.Lock(), None, 0

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
                    if not data or (each is client and self._is_lost(data, server)):
                        client.close()
                        server.close()
                        return
                    (server if each is client else client).sendall(data)

    def silence(self):
        for pair in self.pairs:
            pair["to_server"] = pair["to_client"] = False

    def _is_lost(self, data, server):
        """Whether this is the COMMIT that is to be lost; the server has done it then, or never hears of it."""
        with self.lock:
            if self.loses is None or b"commit\0" not in data:
                return False
            how, self.loses, self.lost = self.loses, None, self.lost + 1
        if how == "answer":
            server.sendall(data)
            server.recv(65536)
        return True

    def lose_answer(self):
        self.loses = "answer"

    def lose_commit(self):
        self.loses = "commit"
