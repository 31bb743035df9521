"""HTTP/1.1 as far as asking one server needs it: a connection that is kept, answers within bounds of size and time.

`http.client` reads headers with a parser made for mail and sends a question in several pieces, which costs more than
everything else that is done for a call here; see benchmarks/remote.py. No redirection is followed and no proxy is used.
"""

import socket
import time

from ..public_address import connect

_PIECE = 1 << 16
_MOST_HEADERS = 1 << 16
_MOST_BUFFERS = 16  # in one system call


class Garbled(Exception):
    """What comes back is not HTTP/1.1, or goes beyond the bounds."""


class Dropped(OSError):
    """The connection ended before anything came back."""


class Answer(object):
    def __init__(self, status, reason, headers, content):
        self.status = status
        self.reason = reason
        self.headers = headers
        """{name in small letters: value}"""
        self.content = content


class Connection(object):
    """One connection, opened when it is needed; one question at a time."""

    def __init__(self, host, port, is_encrypted, is_strangers=False):
        self._is_strangers = is_strangers
        self._host, self._port, self._is_encrypted = host, port, is_encrypted
        self._socket = None
        self._deadline = 0.0

    @property
    def is_open(self):
        return self._socket is not None

    def ask(self, pieces, timeout_s, most_bytes):
        """Send a whole question, headers and all, and read the whole answer."""
        self._deadline = time.monotonic() + timeout_s
        try:
            if self._socket is None:
                self._open()
            try:
                self._send(pieces)
            except (BrokenPipeError, ConnectionResetError):
                answer = self._read(most_bytes)  # a server may refuse before it has heard all
                self.close()
            else:
                answer = self._read(most_bytes)
        except BaseException:
            self.close()  # half an answer may still be on its way
            raise
        return answer

    def stream(self, pieces, timeout_s, most_bytes):
        """(status, reason, headers, what comes of the body, piece by piece, as it comes); all within the time."""
        self._deadline = time.monotonic() + timeout_s
        try:
            if self._socket is None:
                self._open()
            try:
                self._send(pieces)
                keeps = True
            except (BrokenPipeError, ConnectionResetError):
                keeps = False  # a server may refuse before it has heard all
            status, reason, headers, kept, held = self._head()
        except BaseException:
            self.close()
            raise
        return status, reason, headers, self._body(held, status, headers, keeps and kept, most_bytes)

    def _body(self, held, status, headers, keeps, most):
        done = False
        try:
            if "chunked" in headers.get("transfer-encoding", "").lower():
                for piece in self._chunk_pieces(held, most):
                    yield piece
            elif "content-length" in headers:
                yield self._exactly(held, headers["content-length"], most)
            elif status not in (204, 304):
                keeps, total = False, 0
                while held or total == 0:
                    total += len(held)
                    if total > most:
                        raise Garbled("it answers with more than %d bytes" % most)
                    yield held
                    held = self._receive()
                    if not held:
                        break
            done = keeps
        finally:
            if not done:
                self.close()  # the rest may still be on its way

    def close(self):
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _open(self):
        if self._is_strangers:
            opened = connect(self._host, self._port, self._left_s())
        else:
            opened = socket.create_connection((self._host, self._port), self._left_s())
        try:
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._is_encrypted:
                import ssl  # which the workers of all other predictors, and the host, can do without

                opened = ssl.create_default_context().wrap_socket(opened, server_hostname=self._host)
        except BaseException:
            opened.close()
            raise
        self._socket = opened

    def _left_s(self):
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        return left

    def _send(self, pieces):
        self._socket.settimeout(self._left_s())
        if not isinstance(pieces, list):
            for piece in pieces:
                self._socket.settimeout(self._left_s())
                self._socket.sendall(piece)
        elif self._is_encrypted:
            self._socket.sendall(b"".join(pieces))
        else:
            for start in range(0, len(pieces), _MOST_BUFFERS):
                group = pieces[start : start + _MOST_BUFFERS]
                sent = self._socket.sendmsg(group)
                for piece in group:
                    if sent < len(piece):
                        self._socket.sendall(piece[sent:] if sent else piece)
                    sent = max(0, sent - len(piece))

    def _receive(self):
        self._socket.settimeout(self._left_s())
        return self._socket.recv(_PIECE)

    def _head(self):
        """(status, reason, headers, whether the connection stays, what was read behind them)."""
        held = self._receive()
        if not held:
            raise Dropped("the server closed the connection")
        while True:
            if not b"HTTP/1.".startswith(held[:7]):
                raise Garbled("it does not answer in HTTP/1.1")
            head, _, held = self._until(held, b"\r\n\r\n", _MOST_HEADERS)
            status, reason, version, headers = _parse(head)
            if status >= 200:
                break
            held = held or self._receive()  # 100 Continue and the like: the answer is still to come
        keeps = headers.get("connection", "keep-alive" if version == b"1" else "close").lower() != "close"
        return status, reason, headers, keeps, held

    def _read(self, most_bytes):
        status, reason, headers, keeps, held = self._head()
        if "chunked" in headers.get("transfer-encoding", "").lower():
            content = self._chunks(held, most_bytes)
        elif "content-length" in headers:
            content = self._exactly(held, headers["content-length"], most_bytes)
        elif status in (204, 304):
            content = memoryview(b"")
        else:
            content, keeps = self._rest(held, most_bytes), False
        if not keeps:
            self.close()
        return Answer(status, reason, headers, content)

    def _until(self, held, mark, most):
        """(what is before the mark, the mark, what was read behind it)."""
        while mark not in held:
            if len(held) > most:
                raise Garbled("its headers do not end")
            held += self._more()
        return held.partition(mark)

    def _more(self):
        piece = self._receive()
        if not piece:
            raise Garbled("it broke off in the middle of its answer")
        return piece

    def _exactly(self, held, length, most):
        """The body in one piece of memory, which the tensors will then share."""
        import numpy as np

        if not length.isdigit() or len(length) > 18 or int(length) > most:
            raise Garbled("it answers with %.20s bytes, at most %d are read" % (length, most))
        length = int(length)
        if len(held) >= length:
            if len(held) > length:
                raise Garbled("it sends more than it says")
            return memoryview(held)
        content = memoryview(np.empty(length, np.uint8))  # memory that is not touched before something comes
        content[: len(held)] = held
        place = len(held)
        while place < length:
            self._socket.settimeout(self._left_s())
            count = self._socket.recv_into(content[place:])
            if not count:
                raise Garbled("it broke off in the middle of its answer")
            place += count
        return content

    def _chunks(self, held, most):
        content = bytearray()
        for piece in self._chunk_pieces(held, most):
            content += piece
        return memoryview(bytes(content))

    def _chunk_pieces(self, held, most):
        total = 0
        while True:
            line, _, held = self._until(held, b"\r\n", 1 << 10)
            size = line.partition(b";")[0].strip()
            if not size or len(size) > 15 or size.strip(b"0123456789abcdefABCDEF"):
                raise Garbled("its chunks have no size")
            size = int(size, 16)
            total += size
            if total > most:
                raise Garbled("it answers with more than %d bytes" % most)
            if not size:
                while line:  # trailers, up to an empty line
                    line, _, held = self._until(held, b"\r\n", _MOST_HEADERS)
                return
            while size:
                held = held or self._more()
                yield held[:size]
                held, size = held[size:], size - len(held[:size])
            between, _, held = self._until(held, b"\r\n", 2)
            if between:
                raise Garbled("its chunks are longer than they say")

    def _rest(self, held, most):
        content = bytearray(held)
        while len(content) <= most:
            more = self._receive()
            if not more:
                return memoryview(bytes(content))
            content += more
        raise Garbled("it answers with more than %d bytes" % most)


def _parse(head):
    lines = head.split(b"\r\n")
    words = lines[0].split(b" ", 2)
    if len(words) < 2 or not words[1].isdigit() or len(words[1]) != 3:
        raise Garbled("it does not answer in HTTP/1.1")
    headers = {}
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        if colon:
            headers[name.strip().lower().decode("latin-1")] = value.strip().decode("latin-1")
    reason = words[2].decode("latin-1") if len(words) > 2 else ""
    return int(words[1]), reason, words[0][7:8], headers
