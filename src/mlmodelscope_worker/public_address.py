"""Which addresses everybody can reach: everything else is no business of a stranger's. For the host and in stacks."""

import ipaddress
import os
import socket
from urllib.parse import urlsplit

# IANA's registries of special addresses, spelled out because what `ipaddress` knows of them differs from one Python to
# the next. The last of the first group is Azure's own, which looks like anybody's.
_SPECIAL = """
0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24
192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32
2001::/23 2001:db8::/32 3fff::/20
"""
_NETWORKS = [ipaddress.ip_network(each) for each in _SPECIAL.split()]
_EVERYBODYS = ipaddress.ip_network("2000::/3")
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


class NotPublic(OSError):
    """A name or address that leads where strangers may not go."""


def is_public(text):
    """Whether an address is one of the whole internet's, and of one machine."""
    try:
        address = ipaddress.ip_address(text.split("%")[0])
    except ValueError:
        return False
    inner = _inside(address)
    if inner is not None:
        return is_public(str(inner))
    if address.version == 6 and address not in _EVERYBODYS:
        return False
    return not any(address.version == network.version and address in network for network in _NETWORKS)


def _inside(address):
    """The IPv4 address that an IPv6 address stands for."""
    if address.version == 4:
        return None
    if address in _TRANSLATED or int(address) < 2**32:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)


def lookup(host, port):
    """[(family, kind, protocol, place)] of a name. Where one of its addresses is not public, none is used."""
    try:
        found = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)
    except UnicodeError:
        raise NotPublic("the name cannot be looked up")
    for _, _, _, _, place in found:
        if not is_public(place[0]):
            raise NotPublic("its address is not a public one, and who asks is not from here")
    return [(family, kind, protocol, place) for family, kind, protocol, _, place in found]


def connect(host, port, timeout):
    """As socket.create_connection, to an address that was looked at."""
    last = None
    for family, kind, protocol, place in lookup(host, port):
        opened = socket.socket(family, kind, protocol)
        try:
            if isinstance(timeout, (int, float)):
                opened.settimeout(timeout)
            opened.connect(place)
            return opened
        except OSError as error:
            opened.close()
            last = error
    raise last or OSError("the name has no address")


def is_asked_for(address_name=""):
    """Whether this process works for a stranger; an agent may always speak to the server that it was started for."""
    own = urlsplit(os.environ.get("MLMODELSCOPE_SPEAKS_FOR", ""))
    asked = urlsplit(address_name)
    if own.netloc and (own.scheme, own.netloc) == (asked.scheme, asked.netloc):
        return False
    return os.environ.get("MLMODELSCOPE_PUBLIC_ONLY", "").lower() in ("1", "true", "yes", "on")
