"""A forwarder between a server and its PostgreSQL, for what happens to connections on their way: a firewall that forgets them without a word,
an answer that is lost.

    with Proxy(pg.folder / ".s.PGSQL.5432") as proxy:
        f"host=127.0.0.1 port={proxy.port}"
        proxy.silence()         # what is connected now gets nothing through any more, in either direction; new connections do
        proxy.lose_answer()     # the next COMMIT arrives, is done, and its connection is cut before the answer
        proxy.lose_commit()     # it is cut before that COMMIT arrives
        proxy.lost              # how many were
        proxy.hold_at(text)     # answers to the connection that sends this next, and to what it sends then, stay here, until
        proxy.give()            # they go on
        proxy.cancelled         # how many requests to cancel something have come and gone
        proxy.lead_to(path)     # what is connected is cut; who connects anew comes to another PostgreSQL
"""
import contextlib
import select
import socket
import threading

CANCEL = bytes.fromhex("00000010 04d2162e")        # how a request to cancel begins


class Proxy:
    def __init__(self, path):
        self.path, self.listener = str(path), socket.create_server(("127.0.0.1", 0))
        self.port, self.pairs, self.stopped = self.listener.getsockname()[1], [], threading.Event()
        self.lock, self.loses, self.lost, self.holds, self.cancelled = threading.Lock(), None, 0, None, 0

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
        client, server, asked = pair["client"], pair["server"], False
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
                        self.cancelled += asked
                        return
                    asked = asked or data.startswith(CANCEL)
                    if each is client and self.holds is not None and self.holds in data.lower():
                        self.holds, pair["to_client"] = None, False
                    (server if each is client else client).sendall(data)

    def silence(self):
        for pair in self.pairs:
            pair["to_server"] = pair["to_client"] = False

    def hold_at(self, text):
        self.holds = text.encode().lower()

    def give(self):
        for pair in self.pairs:
            pair["to_client"] = True

    def lead_to(self, path):
        self.path = str(path)
        for pair in self.pairs:
            for end in ("client", "server"):
                with contextlib.suppress(OSError):
                    pair[end].shutdown(socket.SHUT_RDWR)

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
