"""What links this machine to others: network cards and InfiniBand ports with their speeds, never their addresses."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import Field

from mlmodelscope.provision.machine.read import Part, entries, link_name, read, read_number

_KINDS = {1: "ethernet", 32: "infiniband"}


class Link(Part):
    """One port."""

    name: str
    kind: str = Field(description="ethernet, wireless or infiniband.")
    speed_mbps: int | None = Field(default=None, description="Million bits a second, as negotiated.")
    is_up: bool | None = None
    driver: str | None = None
    detail: str | None = Field(default=None, description="Generation and width, where the port tells.")


def describe_links(root: Path) -> tuple[Link, ...]:
    return tuple([*_cards(root / "sys/class/net"), *_ports(root / "sys/class/infiniband")])


def _cards(folder: Path) -> list[Link]:
    found = []
    for card in entries(folder):
        kind = _KINDS.get(read_number(card / "type") or 0)
        if kind is None or not (card / "device").exists():  # without hardware behind it: loopback, bridges, tunnels
            continue
        speed = read_number(card / "speed")
        found.append(
            Link(
                name=card.name,
                kind="wireless" if (card / "wireless").exists() else kind,
                speed_mbps=speed if speed is not None and speed > 0 else None,
                is_up={"up": True, "down": False}.get(read(card / "operstate") or ""),
                driver=link_name(card / "device/driver"),
            )
        )
    return found


def _ports(folder: Path) -> list[Link]:
    found = []
    for device in entries(folder):
        for port in entries(device / "ports"):
            rate = re.match(r"([\d.]+)\s*Gb/sec\s*(?:\((.*)\))?", read(port / "rate") or "")
            state = read(port / "state")
            found.append(
                Link(
                    name=f"{device.name}:{port.name}",
                    kind=(read(port / "link_layer") or "infiniband").lower(),
                    speed_mbps=round(float(rate[1]) * 1000) if rate else None,
                    is_up="ACTIVE" in state if state else None,
                    driver=link_name(device / "device/driver"),
                    detail=rate[2] if rate else None,
                )
            )
    return found
