"""Where a server is and what it is told of who asks, for `remote`. Secrets come from the environment or from netrc."""

import base64
import netrc
import os
import re
from urllib.parse import urlsplit

from ..parameters import ParameterError, Text
from ..public_address import is_asked_for
from .predictor import ModelError

_EXAMPLE = "something like http://host:8000"
_PORTS = {"http": 80, "https": 443, "grpc": 8001, "grpcs": 8001}
_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")
_SECRET = ("authorization", "proxy-authorization", "cookie")
_OURS = ("host", "connection", "content-length", "content-type", "transfer-encoding", "inference-header-content-length")


class ServerUrl(Text):
    """An address without secrets in it: it is recorded."""

    def check(self, value):
        url = Text.check(self, value)
        try:
            Address(url)
        except ModelError as error:
            raise ParameterError(str(error))
        return url

    def schema(self):
        return {"type": "string", "pattern": "^(%s)://[^@?#]+$" % "|".join(sorted(_PORTS))}


class Headers(Text):
    """Lines of `Name: value` without secrets in them: they are recorded."""

    def check(self, value):
        text = Text.check(self, value)
        try:
            parse_headers(text)
        except ModelError as error:
            raise ParameterError(str(error))
        return text

    def schema(self):
        return {"type": "string", "pattern": "^\\s*$|:"}


class Address(object):
    """A server's address, taken apart; `name` is what may be shown of it and kept."""

    def __init__(self, url):
        if "@" in url:
            raise ModelError("the address holds a user or password, which would be recorded; use netrc or a token")
        try:
            place = urlsplit(url)
            self.host, port = place.hostname, place.port
        except ValueError:
            raise ModelError("`%s` is no address of a server; expected %s" % (printable(url), _EXAMPLE))
        if place.scheme not in _PORTS or not self.host or re.search(r"[^!-~]", url):
            raise ModelError("`%s` is no address of a server; expected %s" % (printable(url), _EXAMPLE))
        if place.query or place.fragment:
            raise ModelError("`%s` has a query or fragment; expected %s" % (printable(url), _EXAMPLE))
        self.scheme = place.scheme
        self.port = port or _PORTS[place.scheme]
        self.path = place.path.rstrip("/")
        self.name = "%s://%s" % (place.scheme, place.netloc)
        self.is_encrypted = place.scheme in ("https", "grpcs")

    @property
    def target(self):
        """Host and port as a request names them."""
        return "%s:%d" % ("[%s]" % self.host if ":" in self.host else self.host, self.port)

    @property
    def keeps_secrets(self):
        """Whether what is sent there cannot be read on the way."""
        return self.is_encrypted or _LOOPBACK.match(self.host) is not None


def headers_for(address, text, token_variable):
    """(name, value) of everything that goes with each question."""
    if is_asked_for(address.name):
        if token_variable:
            raise ModelError("a variable of this machine is not sent anywhere for somebody on another machine")
        return parse_headers(text)
    credentials = _token(token_variable) if token_variable else _from_netrc(address)
    return parse_headers(text) + ([("Authorization", credentials)] if credentials else [])


def parse_headers(text):
    found = []
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        name, value = name.strip(), value.strip()
        if not line.strip():
            continue
        if not colon or not re.match(r"[A-Za-z0-9._-]+\Z", name) or re.search(r"[^ -~]", value):
            raise ModelError("`%s` is no header; expected `Name: value`" % printable(line))
        if name.lower() in _SECRET:
            raise ModelError("the header %s would be recorded; use `token_variable` or netrc" % name)
        if name.lower() in _OURS:
            raise ModelError("the header %s is ours to set" % name)
        found.append((name, value))
    return found


def _token(variable):
    token = os.environ.get(variable)
    if not token:
        raise ModelError("the environment variable %s, which should hold the token, is not set" % variable)
    if re.search(r"[^!-~]", token):
        raise ModelError("the environment variable %s holds something that no token has in it" % variable)
    return "Bearer " + token


def _from_netrc(address):
    """User and password of exactly this host. An entry for `default` is not used: it would go to whoever is named."""
    if not address.keeps_secrets:
        return None
    path = os.environ.get("NETRC") or os.path.join(os.path.expanduser("~"), ".netrc")
    try:
        user, _, password = netrc.netrc(path).hosts[address.host]
    except (KeyError, OSError, ValueError, netrc.NetrcParseError):
        return None
    return "Basic " + base64.b64encode(("%s:%s" % (user, password or "")).encode("utf-8")).decode("ascii")


def printable(text, most=200):
    """Somebody else's text in one line that can do no harm to a terminal."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in str(text)).split())
    return line if len(line) <= most else line[: most - 1] + "…"
