"""Whether this process is a confined one, whose time and memory are bounded already."""

from __future__ import annotations

_state = {"confined": False}


def enter() -> None:
    """Said once, by the confined process itself."""
    _state["confined"] = True


def is_confined() -> bool:
    """A confined process starts no other one for what its own limits bound: they would not hold for that."""
    return _state["confined"]
