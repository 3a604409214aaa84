"""A road to a server that breaks where a test says: before, or after, a word has gone through."""

import select
import socket
import threading
from contextlib import suppress


class Road:
    """Passes bytes on between clients and a server; `cut` says at which word the road breaks.

    cut(word): the message with the word never arrives.
    cut(word, answer): it arrives, and what comes back is lost up to this word of the answer.

    journeys: how many messages of clients came along.
    """

    def __init__(self, port):
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._word = None
        self.cuts = self.journeys = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, word, answer=None):
        """Break the road once, at the next message that holds this word, or at its answer."""
        self._word, self._answer = word, answer

    def close(self):
        self._listener.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._server))
                threading.Thread(target=self._carry, args=(near, far), daemon=True).start()

    def _carry(self, near, far):
        with near, far, suppress(OSError):
            lost = False
            while True:
                for one in select.select([near, far], [], [])[0]:
                    content = one.recv(1 << 16)
                    self.journeys += one is near
                    if one is near and self._word and self._word in content:
                        lost, self._word = True, None
                        self.cuts += 1
                        if self._answer is None:
                            return
                    if not content or (one is far and lost and self._answer in content):
                        return
                    if one is near or not lost:
                        (far if one is near else near).sendall(content)
