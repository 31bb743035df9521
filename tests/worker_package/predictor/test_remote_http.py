"""HTTP as servers really speak it, and as a hostile one might: whatever comes, an answer or an error within bounds."""

import socket
import ssl
import subprocess
import threading
from typing import Any, Iterator, List, Tuple

import pytest

from mlmodelscope_worker.predictor.remote_http import Connection, Dropped, Garbled

MOST = 1000


class Scripted:
    """A server that answers each question with the pieces that it was given, and then keeps still or hangs up."""

    def __init__(self) -> None:
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(8)
        self.port = self._listener.getsockname()[1]
        self.pieces = []  # type: List[bytes]
        self.hangs_up = False
        self.pause_s = 0.0
        self._end = threading.Event()
        self.connections = 0
        self._open = []  # type: List[socket.socket]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        try:
            while connection.recv(1 << 16):
                for piece in self.pieces:
                    connection.sendall(piece)
                    if self.pause_s:
                        self._end.wait(self.pause_s)
                if self.hangs_up:
                    connection.close()
                    return
        except OSError:
            pass  # the other end had enough

    def close(self) -> None:
        self._end.set()
        self._listener.close()
        for connection in self._open:
            connection.close()


@pytest.fixture
def server() -> Iterator[Scripted]:
    started = Scripted()
    yield started
    started.close()


def ask(server: Scripted, *pieces: bytes, hangs_up: bool = False, timeout_s: float = 300) -> Tuple[int, bytes]:
    server.pieces, server.hangs_up = list(pieces), hangs_up
    connection = Connection("127.0.0.1", server.port, False)
    try:
        answer = connection.ask([b"GET / HTTP/1.1\r\n\r\n"], timeout_s, MOST)
        return answer.status, bytes(answer.content)
    finally:
        connection.close()


@pytest.mark.parametrize(
    "pieces",
    [
        [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"],
        [b"HTTP/1.1 200 OK\r\ncontent-LENGTH:5\r\n\r\nhel", b"lo"],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r", b"\n", b"hello"],
        [b"H", b"TTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"],
        [b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello"],
        [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"],
        [b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"],
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=1\r\nllo\r\n0\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r", b"\n3\r\nl", b"lo\r\n0\r\nA: b\r\n\r\n"],
    ],
)
def test_an_answer_is_read_however_it_is_cut_up(server: Scripted, pieces: List[bytes]) -> None:
    assert ask(server, *pieces) == (200, b"hello")


def test_an_answer_may_end_with_the_connection(server: Scripted) -> None:
    assert ask(server, b"HTTP/1.0 200 OK\r\n\r\nhel", b"lo", hangs_up=True) == (200, b"hello")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"\x00\x00\x12\x04\x00\x00\x00\x00\x00", "does not answer in HTTP/1.1"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "does not answer in HTTP/1.1"),
        (b"HTTP/1.1 OK\r\n\r\n", "does not answer in HTTP/1.1"),
        (b"HTTP/1.1 99999 OK\r\n\r\n", "does not answer in HTTP/1.1"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", "answers with 1001 bytes, at most 1000 are read"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "answers with -1 bytes"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 99 + b"\r\n\r\n", "answers with 9{20} bytes"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nhello", "sends more than it says"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "its chunks have no size"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", "its chunks have no size"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"f" * 9 + b"\r\n", "with more than 1000 bytes"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 2000, "do not end"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", "longer than they say"),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20000, "its headers do not end"),
    ],
)
def test_what_is_no_answer_is_refused(server: Scripted, answer: bytes, message: str) -> None:
    with pytest.raises(Garbled, match=message):
        ask(server, answer)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
    ],
)
def test_an_answer_that_breaks_off_is_none(server: Scripted, answer: bytes) -> None:
    with pytest.raises(Garbled, match="broke off in the middle"):
        ask(server, answer, hangs_up=True)


def test_no_answer_at_all_is_something_else(server: Scripted) -> None:
    with pytest.raises(Dropped):
        ask(server, hangs_up=True)


def test_more_than_is_read_is_refused_without_an_end_as_well(server: Scripted) -> None:
    with pytest.raises(Garbled, match="more than 1000 bytes"):
        ask(server, b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2000)


@pytest.mark.parametrize("beginning", [b"HTTP/1.1 200 ", b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"])
def test_an_answer_that_comes_drop_by_drop_is_given_up(server: Scripted, beginning: bytes) -> None:
    """The time is that of the whole answer, not of each piece."""
    server.pause_s = 0.01
    with pytest.raises(socket.timeout):
        ask(server, beginning, *[b"x"] * 800, timeout_s=0.1)


def test_a_connection_is_kept_unless_the_server_closes_it(server: Scripted) -> None:
    connection = Connection("127.0.0.1", server.port, False)
    question = [b"GET / HTTP/1.1\r\n\r\n"]
    for closes in (b"", b"", b"Connection: close\r\n", b""):
        server.pieces = [b"HTTP/1.1 200 OK\r\n" + closes + b"Content-Length: 2\r\n\r\nok"]
        assert bytes(connection.ask(question, 10, MOST).content) == b"ok"
        assert connection.is_open == (not closes)
    connection.close()
    assert server.connections == 2


def test_a_refusal_is_heard_before_all_is_said(server: Scripted) -> None:
    server.pieces, server.hangs_up = [b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"], True
    connection = Connection("127.0.0.1", server.port, False)

    def pieces() -> Any:
        yield b"POST / HTTP/1.1\r\nContent-Length: 100000000\r\n\r\n"
        for _ in range(2000):
            yield bytes(50000)

    try:
        assert connection.ask(pieces(), 30, MOST).status == 413
    except (ConnectionResetError, Dropped):
        pass  # a reset may overtake the words; then there is no answer, and none is made up
    assert not connection.is_open


def test_a_long_question_arrives_whole() -> None:
    heard, listener = [], socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    pieces = [bytes([number]) * 300000 for number in range(40)]

    def listen() -> None:
        connection, _ = listener.accept()
        content = bytearray()
        while len(content) < 40 * 300000:
            content += connection.recv(1 << 20)
        heard.append(bytes(content))
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        connection.close()

    thread = threading.Thread(target=listen)
    thread.start()
    connection = Connection("127.0.0.1", listener.getsockname()[1], False)
    assert connection.ask([memoryview(piece) for piece in pieces], 60, MOST).status == 200
    thread.join()
    listener.close()
    connection.close()
    assert heard == [b"".join(pieces)]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: Any) -> str:
    """A certificate of this machine with its key, in one file."""
    path = str(tmp_path_factory.mktemp("tls") / "both.pem")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=here -addext subjectAltName=IP:127.0.0.1"
    try:
        subprocess.run(command.split() + ["-keyout", path + ".key", "-out", path], check=True, stderr=subprocess.PIPE)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip("no certificate can be made here: %s" % error)
    with open(path, "a") as both, open(path + ".key") as key:
        both.write(key.read())
    return path


@pytest.fixture
def private_port(certificate: str) -> Iterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = context.wrap_socket(socket.socket(), server_side=True)
    listener.bind(("127.0.0.1", 0))
    listener.listen(4)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
                while connection.recv(1 << 16):
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            except (ssl.SSLError, ConnectionError):
                continue  # somebody did not trust us
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.close()


def test_a_server_is_spoken_to_in_private_if_it_can_be_trusted(
    private_port: int, certificate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = [b"GET / HTTP/1.1\r\n", b"\r\n"]
    with pytest.raises(ssl.SSLError):  # nobody vouches for it
        Connection("127.0.0.1", private_port, True).ask(question, 10, MOST)
    monkeypatch.setenv("SSL_CERT_FILE", certificate)
    connection = Connection("127.0.0.1", private_port, True)
    for _ in range(2):
        assert bytes(connection.ask(question, 10, MOST).content) == b"hello"
    connection.close()
    with pytest.raises((ssl.SSLError, ssl.CertificateError)):  # it is somebody else's certificate
        Connection("127.1", private_port, True).ask(question, 10, MOST)
