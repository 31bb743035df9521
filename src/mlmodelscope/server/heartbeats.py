"""Heartbeats, gathered: a thousand agents' signs of life are written down together, about once a second."""

from __future__ import annotations

import threading

from mlmodelscope.ledger.agents import Agents


class Heartbeats:
    """Knows the agents as they were a moment ago; whatever is not clear from that is asked of the ledger itself."""

    def __init__(self, agents: Agents, lease_s: float) -> None:
        self._agents, self._lease_s = agents, lease_s
        self._lock = threading.Lock()
        self._known: dict[str, tuple[str, bool, str | None]] = {}
        self._beaten: set[tuple[str, str]] = set()

    def note(self, identity: str, incarnation: str, owner: str) -> bool | None:
        """It is still there; whether it is to take nothing more, or None where only the ledger can say.

        Nothing is written down before `write` is called.
        """
        with self._lock:
            known = self._known.get(identity)
            if known is None or known[0] != incarnation or known[2] != owner:
                return None
            self._beaten.add((identity, incarnation))
            return known[1]

    def beat(self, identity: str, incarnation: str, owner: str) -> bool:
        """As `note`, and the ledger is asked where it must be: Gone where the agent is not known there."""
        draining = self.note(identity, incarnation, owner)
        if draining is None:
            draining = self._agents.beat(identity, incarnation, self._lease_s, owner)
            with self._lock:
                self._known[identity] = (incarnation, draining, owner)
        return draining

    def forget(self, identity: str) -> None:
        """Something about it has changed."""
        with self._lock:
            self._known.pop(identity, None)

    def write(self) -> None:
        """Write down who was heard of, and look who is known."""
        with self._lock:
            beaten, self._beaten = self._beaten, set()
        self._agents.beat_all(sorted(beaten), self._lease_s)
        known = self._agents.incarnations()
        with self._lock:
            self._known = known
