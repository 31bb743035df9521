"""What every handler works with: the store, the ledger, and who is asking."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mlmodelscope.confine.confined import Confined, Limits
from mlmodelscope.ledger.agents import Agents
from mlmodelscope.ledger.artifacts import Artifacts
from mlmodelscope.ledger.audit import Audit
from mlmodelscope.ledger.history import History
from mlmodelscope.ledger.leases import Leases
from mlmodelscope.ledger.manifests import Manifests
from mlmodelscope.ledger.parts import Parts
from mlmodelscope.ledger.queue import Queue
from mlmodelscope.ledger.recent import Recent
from mlmodelscope.ledger.tokens import Person, Tokens
from mlmodelscope.ledger.traces import Traces
from mlmodelscope.record.search import Search
from mlmodelscope.record.store import Store
from mlmodelscope.server.bell import Bell
from mlmodelscope.server.board import Board
from mlmodelscope.server.catalogue import Catalogue
from mlmodelscope.server.config import Config
from mlmodelscope.server.gallery import Gallery
from mlmodelscope.server.heartbeats import Heartbeats
from mlmodelscope.server.networks import Networks
from mlmodelscope.settings import Settings

if TYPE_CHECKING:
    from mlmodelscope.server.oidc import Issuer


_PLANNED_LASTS_S = 20.0
"""For which a dataset need not be looked for again: pictures of it are asked for many at once."""
_PAIRED_LASTS_S = 30.0
"""For which the classes of a model and a dataset need not be counted again: a form asks at each of its fields."""
_POSED_LASTS_S = 1.0
"""For which a question to a model need not be looked at again: its manifests, and the agents that fit."""


_CONFINED = 3
"""Processes that read what people sent, at the same time."""


class Refused(Exception):
    """Somebody asked for what they may not do."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"this needs the scope `{scope}`")
        self.scope = scope


class Desk:
    def __init__(self, settings: Settings, config: Config) -> None:
        self.config = config
        self._issuer = _issuer(config)
        self.stopping = False
        """Whoever waits for something must not wait any longer."""
        self.settings = replace(settings, **_said(config))
        self.store = Store(self.settings)
        database = self.store.database
        self.queue, self.parts, self.history = Queue(database), Parts(database), History(database)
        self.leases = Leases(database, config.lease_s)
        self.agents = Agents(database, self.leases)
        self.heartbeats, self.bell = Heartbeats(self.agents, config.lease_s), Bell()
        self.board, self.posed = Board(), Recent[Any](_POSED_LASTS_S)
        self.manifests, self.tokens, self.audit = Manifests(database), Tokens(database), Audit(database)
        self.artifacts, self.traces = Artifacts(database), Traces(database)
        self.catalogue = Catalogue(database)
        self.offline = replace(self.settings, offline=True)
        """For what is shown where it is available, and never fetched for it."""
        self.confined = Confined(Limits(cpu_s=config.reading_s, memory_bytes=config.reading_memory), _CONFINED)
        """Reads what people sent."""
        self.search, self.gallery = Search(), Gallery(self.settings, self.confined)
        self.planned, self.paired = Recent[Any](_PLANNED_LASTS_S), Recent[Any](_PAIRED_LASTS_S)
        self.networks = Networks(self.confined)

    def person(self, secret: str) -> Person | None:
        """Whose token it is, ours or the issuer's; None where it is nobody's."""
        found = self.tokens.person(secret)
        return self._issuer.person(secret) if found is None and self._issuer is not None else found

    def close(self) -> None:
        self.confined.close()  # whoever waits for it is told
        self.gallery.pool.shutdown(cancel_futures=True)
        self.store.close()


def _said(config: Config) -> dict[str, Any]:
    """What the configuration says of the settings."""
    names = (
        "database",
        "blobs",
        "stores",
        "packages",
        "largest_file",
        "largest_request",
        "largest_public_file",
        "largest_public_request",
    )
    return {name: value for name in names if (value := getattr(config, name))}


def _issuer(config: Config) -> Issuer | None:
    if config.oidc_issuer is None and config.oidc_audience is None:
        return None
    from mlmodelscope.server.oidc import Issuer

    return Issuer(config)


def demand(person: Person, scope: str) -> None:
    if not person.may(scope):
        raise Refused(scope)
