"""Who we are to a host that keeps files for a few: from the environment or netrc, never from a manifest.

A manifest names the host and the user's own settings say what that host is told, so that nobody else's manifest can
have a secret sent to a host of its choice.
"""

from __future__ import annotations

import ipaddress
import netrc
import os
import re
from base64 import b64encode
from urllib.parse import urlsplit

PREFIX = "MLMODELSCOPE_BEARER_"
"""Of a variable that holds a host's token: `MLMODELSCOPE_BEARER_FILES_EXAMPLE_ORG`."""


def credentials_for(url: str) -> dict[str, str]:
    """The header for exactly this host, where nobody can read it on the way; none where the address has its own."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.username or not (parts.scheme == "https" or _is_this_machine(host)):
        return {}
    token = os.environ.get(variable_of(host), "").strip()
    if re.fullmatch("[!-~]+", token):
        return {"Authorization": f"Bearer {token}"}
    try:
        found = netrc.netrc(os.environ.get("NETRC")).hosts.get(host)  # `default` would go to whoever is named
    except (OSError, netrc.NetrcParseError, RuntimeError):
        return {}
    if found is None:
        return {}
    return {"Authorization": "Basic " + b64encode(f"{found[0]}:{found[2]}".encode()).decode()}


def variable_of(host: str) -> str:
    """A hyphen becomes two underscores, anything else that no variable may have becomes one."""
    return PREFIX + re.sub("[^A-Z0-9_]", "_", host.upper().replace("-", "__"))


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
