"""Questions to one server over HTTP, for `openai`: asked again where that may help, a bounded number of times.

A busy or broken server costs waiting, never an answer: what came of a try that failed is dropped as a whole.
"""

import email.utils
import json
import random
import socket
import threading
import time

from ..public_address import is_asked_for
from .predictor import Lost, ModelError
from .remote_address import printable
from .remote_http import Connection, Dropped, Garbled
from .remote_tensors import Refusal, Unreachable

_MOST_BYTES = 1 << 26
_MOST_COMPLAINT = 1 << 16
_LOOK_S = 5.0
_BUSY = (408, 409, 425, 429, 502, 503, 504, 529)
_FIRST_PAUSE_S = 0.5

pause = time.sleep


class Again(Exception):
    """This try came to nothing, and another may not. `is_away` says that it is the server's own trouble."""

    def __init__(self, words, wait_s=None, is_away=False):
        Exception.__init__(self, words)
        self.wait_s = wait_s
        self.is_away = is_away
        self.is_busy = False
        """Whether the server itself says so: no question is to blame, even where others are answered."""


class Client(object):
    """Each thread has a connection of its own, kept open."""

    def __init__(self, address, headers, timeout_s, tries, longest_wait_s):
        self.name = address.name
        self._address = address
        self._root = address.path or "/v1"
        self._timeout_s, self._tries, self._longest_wait_s = timeout_s, tries, longest_wait_s
        lines = ["Host: %s" % address.target] + ["%s: %s" % pair for pair in headers]
        self._headers = "".join("%s\r\n" % line for line in lines)
        self._secrets = [value.split(" ", 1)[-1] for name, value in headers if name == "Authorization"]
        self._lane = threading.local()
        self._lock = threading.Lock()
        self._connections = []

    def hidden(self, text):
        """A text of the server's without the key, which it may repeat."""
        for each in self._secrets:
            text = text.replace(each, "…")
        return text

    def get(self, path):
        """What the server says there: an object."""
        return self._asked("GET", path, b"", _whole, self._timeout_s)

    def post(self, path, question, take=None):
        """What `take(content type, pieces of the answer)` makes of it; without it an object."""
        body = json.dumps(question).encode("utf-8")
        return self._asked("POST", path, body, take or _whole, self._timeout_s)

    def is_there(self):
        """Whether the server answers anything at all."""
        try:
            self._once("GET", "/models", b"", _whole, min(_LOOK_S, self._timeout_s))
        except Again as again:
            return not again.is_away
        except Refusal:
            return True
        return True

    def _asked(self, method, path, body, take, timeout_s):
        waited = 0.0
        for left in range(self._tries - 1, -1, -1):
            try:
                return self._once(method, path, body, take, timeout_s)
            except Again as again:
                last = again
            if left:
                waited += self._wait(self._tries - left, last, self._longest_wait_s - waited)
        words = self.hidden("%s %s" % (self.name, last))
        if self._tries > 1:
            words += "; it was asked %d times" % self._tries
        if last.is_busy or (last.is_away and not self.is_there()):
            raise Lost(words)
        raise (Unreachable if last.is_away else ModelError)(words)

    def _wait(self, count, again, left_s):
        """Wait before the next try: as long as the server asks for, else twice as long each time."""
        if again.wait_s is None:
            wanted = min(max(0.0, left_s), _FIRST_PAUSE_S * 2 ** (count - 1) * random.uniform(0.75, 1.25))
        else:
            wanted = again.wait_s
        if wanted > left_s:
            words = (
                "%s %s, and asks for a pause of %d s; at most %d s are waited: run the same command later, it resumes"
            )
            raise Lost(self.hidden(words % (self.name, again, wanted, self._longest_wait_s)))
        pause(max(0.0, wanted))
        return wanted

    def _once(self, method, path, body, take, timeout_s):
        content = "" if method == "GET" else "Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body)
        words = "%s %s%s HTTP/1.1\r\n%s%s\r\n" % (method, self._root, path, self._headers, content)
        pieces = [words.encode("utf-8"), body]
        connection = self._connection()
        was_open = connection.is_open
        try:
            try:
                answer = connection.stream(pieces, timeout_s, _MOST_BYTES)
            except (Dropped, ConnectionResetError, BrokenPipeError):
                # A server closes connections that were idle; whether this was one is seen only by using it.
                if not was_open:
                    raise
                answer = connection.stream(pieces, timeout_s, _MOST_BYTES)
            return self._taken(answer, take)
        except socket.timeout:
            raise Again("gave no whole answer within %g s" % timeout_s, is_away=True)
        except OSError as error:  # TLS is one of these
            raise Again("cannot be asked: %s" % (error.strerror or printable(error)), is_away=True)
        except Garbled as error:
            raise Again("cannot be understood: %s" % error)

    def _taken(self, answer, take):
        status, reason, headers, pieces = answer
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if 200 <= status < 300:
            return take(kind, pieces)
        said = _beginning(pieces)
        if 300 <= status < 400:
            target = printable(headers.get("location", "nowhere"))
            raise self._refusal(status, "sends us on to %s; we ask only the server that was named" % target)
        words = "answered %d %s: %s" % (status, printable(reason), _complaint(said))
        if status in _BUSY:
            again = Again(words, wait_s=_seconds(headers.get("retry-after")), is_away=True)
            again.is_busy = status in (429, 502, 503, 529)
            raise again
        if status >= 500:
            raise Again(words)
        if status in (401, 403):
            words += "; a key was sent" if self._secrets else "; no key was sent: `token_variable` names its variable"
        raise self._refusal(status, words)

    def _refusal(self, status, words):
        refusal = Refusal(self.hidden("%s %s" % (self.name, words)))
        refusal.status = status
        return refusal

    def _connection(self):
        connection = getattr(self._lane, "connection", None)
        if connection is None:
            address = self._address
            connection = self._lane.connection = Connection(
                address.host, address.port, address.is_encrypted, is_asked_for(address.name)
            )
            with self._lock:
                self._connections.append(connection)
        return connection

    def close(self):
        for connection in self._connections:
            connection.close()


def _beginning(pieces):
    """As much of a complaint as anybody reads."""
    content = bytearray()
    try:
        for piece in pieces:
            content += bytes(piece[:_MOST_COMPLAINT])
            if len(content) >= _MOST_COMPLAINT:
                break
    except (OSError, Garbled):
        pass  # the status says enough
    finally:
        pieces.close()
    return bytes(content[:_MOST_COMPLAINT])


def _whole(kind, pieces):
    return parsed(b"".join(bytes(piece) for piece in pieces), kind)


def parsed(content, kind="application/json"):
    """An object of JSON."""
    try:
        said = json.loads(bytes(content).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        of = "" if kind == "application/json" else " of type %s" % printable(kind or "unknown", 60)
        raise Again("answered with something else than JSON%s: %s" % (of, printable(error)))
    if not isinstance(said, dict):
        raise Again("answered with something else than an object")
    return said


def _seconds(text):
    """How long a server asks to be left alone: seconds, or until a date."""
    if not text:
        return None
    text = text.strip()
    if text.replace(".", "", 1).isdigit() and len(text) < 12:
        return float(text)
    try:
        moment = email.utils.parsedate_tz(text)
        return None if moment is None else max(0.0, email.utils.mktime_tz(moment) - time.time())
    except (ValueError, OverflowError, TypeError):
        return None


def _complaint(content):
    """What the server says is wrong, or the beginning of whatever it sent."""
    text = content[:4000].decode("utf-8", "replace")
    try:
        said = json.loads(text)
        said = said.get("error") or said.get("message") or said.get("detail") or text
        text = said.get("message", text) if isinstance(said, dict) else said
    except (ValueError, AttributeError, RecursionError):
        pass
    return printable(text, 400) or "no reason given"
