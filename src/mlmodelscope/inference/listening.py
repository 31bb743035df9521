"""The address, ports and certificate of the protocol's server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Listening:
    """Where questions may come in; a port of 0 is any that is free."""

    host: str = "127.0.0.1"
    port: int | None = None
    rpc_port: int | None = None
    tls_certificate: Path | None = None
    tls_key: Path | None = None

    @property
    def is_wanted(self) -> bool:
        return self.port is not None or self.rpc_port is not None
