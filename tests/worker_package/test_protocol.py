"""Frames between host and worker: whatever arrives, the other end understands it or hears that it is closed."""

import json
import socket
import struct
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlmodelscope_worker.protocol import MAX_BUFFER, MAX_HEADER, Channel, Closed


@pytest.fixture
def ends() -> Iterator[tuple[Channel, socket.socket]]:
    """A channel, and the bare socket at its other end."""
    ours, theirs = socket.socketpair()
    channel = Channel(ours)
    yield channel, theirs
    channel.close()
    theirs.close()


def frame(header: object, *buffers: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack(">I", len(text)) + text + b"".join(buffers)


@pytest.fixture
def pair() -> Iterator[tuple[Channel, Channel]]:
    channels = tuple(Channel(end) for end in socket.socketpair())
    yield channels
    for channel in channels:
        channel.close()


def test_a_message_arrives_as_it_was_sent(pair: tuple[Channel, Channel]) -> None:
    pair[0].send({"do": "batch", "name": "é"}, (b"abc", b"", np.arange(3, dtype=np.int32)))
    header, buffers = pair[1].receive()
    assert header == {"do": "batch", "name": "é"}
    assert buffers == [b"abc", b"", np.arange(3, dtype=np.int32).tobytes()]


@pytest.mark.parametrize("shape", [(0,), (0, 5), (3, 0), (2, 3)])
def test_an_empty_array_is_sent_like_any_other(pair: tuple[Channel, Channel], shape: tuple[int, ...]) -> None:
    """Python cannot cast a view of nothing; when all samples of a batch fail there is nothing."""
    array = np.ones(shape, np.float32)
    pair[0].send({"do": "answers"}, (array,))
    assert pair[1].receive()[1] == [array.tobytes()]


def test_messages_of_many_threads_do_not_mix(pair: tuple[Channel, Channel]) -> None:
    def talk(number: int) -> None:
        for _ in range(50):
            pair[0].send({"from": number}, (bytes([number]) * 5000,))

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        header, buffers = pair[1].receive()
        assert buffers == [bytes([header["from"]]) * 5000]
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("cut", [0, 1, 3, 4, 10, -1])
def test_a_frame_that_stops_short_is_a_closed_connection(ends: tuple[Channel, socket.socket], cut: int) -> None:
    channel, raw = ends
    raw.sendall(frame({"do": "open", "buffers": [4]}, b"abcd")[:cut])
    raw.close()
    with pytest.raises(Closed, match="the other end closed the connection"):
        channel.receive()


@pytest.mark.parametrize(
    "sent",
    [
        struct.pack(">I", MAX_HEADER + 1),
        b"GET / HTTP/1.1\r\n\r\n",
        frame(b"\xff\xfe not text"),
        frame(b"not json"),
        frame(b""),
        frame([1, 2]),
        frame("text"),
        frame(b"[" * 5_000),
        frame({"buffers": 7}),
        frame({"buffers": ["x"]}),
        frame({"buffers": [None]}),
        frame({"buffers": [-1]}),
        frame({"buffers": [MAX_BUFFER + 1]}),
    ],
    ids=lambda sent: repr(sent[:24]),
)
def test_what_is_not_of_this_protocol_is_refused(ends: tuple[Channel, socket.socket], sent: bytes) -> None:
    channel, raw = ends
    raw.sendall(sent)
    with pytest.raises(Closed, match="not of this protocol"):
        channel.receive()


@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_bytes_are_a_closed_connection_or_a_message(data: bytes) -> None:
    ours, theirs = socket.socketpair()
    channel = Channel(ours)
    theirs.sendall(data)
    theirs.close()
    try:
        header, buffers = channel.receive()
        assert isinstance(header, dict)
    except Closed:
        pass
    finally:
        channel.close()


def test_sending_to_nobody_says_so(ends: tuple[Channel, socket.socket]) -> None:
    channel, raw = ends
    raw.close()
    with pytest.raises(Closed):
        for _ in range(100):
            channel.send({"do": "answers"}, (bytes(1 << 16),))


def test_closing_wakes_whoever_is_still_reading(ends: tuple[Channel, socket.socket]) -> None:
    channel, raw = ends
    heard = []

    def listen() -> None:
        try:
            channel.receive()
        except Closed as closed:
            heard.append(closed)

    reader = threading.Thread(target=listen)
    reader.start()
    raw.shutdown(socket.SHUT_RDWR)
    reader.join(300)
    channel.close()
    channel.close()
    assert len(heard) == 1
