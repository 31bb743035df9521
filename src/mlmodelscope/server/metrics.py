"""Numbers for Prometheus: what was asked and how long it took, and how the ledger stands when somebody looks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.ledger.moment import now
from mlmodelscope_worker import __version__

if TYPE_CHECKING:
    from mlmodelscope.server.desk import Desk

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_STATES = ("waiting", "running", "finished", "failed", "cancelled")
_AGENTS = ("online", "draining", "gone")
_BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_LOOK_EVERY_S = 2.0


class Metrics:
    """A registry of its own: two servers in one process do not count together."""

    def __init__(self, desk: Desk) -> None:
        self._registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._asked = Counter("mlmodelscope_requests", "Questions over HTTP.", labels, registry=self._registry)
        self._took = Histogram(
            "mlmodelscope_request_seconds",
            "Time until the last byte of an answer was sent.",
            ("method", "route"),
            buckets=_BOUNDS_S,
            registry=self._registry,
        )
        self._database_errors = Counter(
            "mlmodelscope_database_errors", "Questions that the database could not answer.", registry=self._registry
        )
        self._registry.register(_Ledger(desk, self))

    def count(self, method: str, route: str, status: int, took_s: float) -> None:
        self._asked.labels(method, route, str(status)).inc()
        self._took.labels(method, route).observe(took_s)

    def database_failed(self) -> None:
        self._database_errors.inc()

    def text(self) -> bytes:
        return generate_latest(self._registry)


class _Ledger(Collector):
    """How the ledger stands; looked up every two seconds at most, however often somebody asks."""

    def __init__(self, desk: Desk, metrics: Metrics) -> None:
        self._desk, self._metrics = desk, metrics
        self._seen: list[Metric] = []
        self._seen_at = float("-inf")

    def describe(self) -> Iterator[Metric]:
        return iter(())

    def collect(self) -> Iterator[Metric]:
        if time.monotonic() - self._seen_at > _LOOK_EVERY_S:
            self._seen, self._seen_at = self._look(), time.monotonic()
        yield from self._seen

    def _look(self) -> list[Metric]:
        version = GaugeMetricFamily("mlmodelscope_info", "The server's version.", labels=["version"])
        version.add_metric([__version__], 1)
        up = GaugeMetricFamily("mlmodelscope_database_up", "Whether the database answers.")
        try:
            counts, oldest = self._desk.history.counts(), self._desk.history.oldest()
            agents = self._desk.agents.states()
        except MLModelScopeError:
            self._metrics.database_failed()
            up.add_metric([], 0)
            return [version, up]
        up.add_metric([], 1)
        evaluations = GaugeMetricFamily("mlmodelscope_evaluations", "Evaluations by state.", labels=["state"])
        for state in _STATES:
            evaluations.add_metric([state], counts.get(state, 0))
        there = GaugeMetricFamily("mlmodelscope_agents", "Agents by state.", labels=["state"])
        for state in _AGENTS:
            there.add_metric([state], agents.get(state, 0))
        age = GaugeMetricFamily("mlmodelscope_queue_age_seconds", "How long the oldest has waited; 0 where none waits.")
        age.add_metric([], max(0.0, (now() - oldest).total_seconds()) if oldest else 0.0)
        return [version, up, evaluations, there, age]
