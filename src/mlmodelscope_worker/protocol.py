"""Frames between host and worker: a JSON header, then raw buffers. Standard library only, both ends use it.

4 bytes  length of the header, big-endian
header   JSON object; its "buffers" key lists the length of each buffer that follows
buffers  raw bytes, in that order
"""

import json
import socket
import struct
import threading

MAX_HEADER = 64 << 20
MAX_BUFFER = 4 << 30
_SMALL = 1 << 16  # up to here a copy is cheaper than another system call

_LENGTH = struct.Struct(">I")


class Closed(Exception):
    """The other end is gone."""


class Channel(object):
    """One end of a connected stream socket. Any thread may send, one receives."""

    def __init__(self, sock):
        self._socket = sock
        self._stream = sock.makefile("rb", buffering=1 << 16)
        self._sending = threading.Lock()

    def send(self, header, buffers=()):
        views = [_bytes_of(buffer) for buffer in buffers]
        header = dict(header, buffers=[len(view) for view in views])
        text = json.dumps(header, separators=(",", ":")).encode("utf-8")
        try:
            with self._sending:
                if sum(map(len, views)) <= _SMALL:
                    self._socket.sendall(b"".join([_LENGTH.pack(len(text)), text] + views))
                    return
                self._socket.sendall(_LENGTH.pack(len(text)) + text)
                for view in views:
                    self._socket.sendall(view)
        except (OSError, ValueError) as error:
            raise Closed(str(error))

    def receive(self):
        """The next (header, buffers); Closed when there will be none."""
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size))
        if length > MAX_HEADER:
            raise Closed("a header of %d bytes is not of this protocol" % length)
        text = self._read(length)
        try:
            header = json.loads(text.decode("utf-8"))
            sizes = [int(size) for size in header.pop("buffers", [])]
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise Closed("a header of %r... is not of this protocol" % text[:40])
        if any(not 0 <= size <= MAX_BUFFER for size in sizes):
            raise Closed("buffers of %s bytes are not of this protocol" % sizes)
        return header, [self._read(size) for size in sizes]

    def _read(self, length):
        try:
            data = self._stream.read(length)
        except (OSError, ValueError) as error:
            raise Closed(str(error))
        if data is None or len(data) != length:
            raise Closed("the other end closed the connection")
        return data

    def close(self):
        try:
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes a thread that is still reading
        except OSError:
            pass
        for part in (self._stream, self._socket):
            try:
                part.close()
            except OSError:
                pass  # already gone: closing is all that was wanted


def _bytes_of(buffer):
    view = memoryview(buffer)
    return view.cast("B") if view.nbytes else b""  # a view of nothing cannot be cast


def connect(path):
    """The worker's end: a channel to the host's socket at `path`."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.connect(path)
    return Channel(sock)
