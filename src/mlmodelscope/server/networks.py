"""Networks of model files, read in confined processes, since a file is a stranger's; the newest few are remembered."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from mlmodelscope.confine.confined import Confined
from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.inspection.graph import graph_of
from mlmodelscope.inspection.summary import inspect_file

_KEPT = 8
_KEPT_FACTS = 1000
Facts = dict[str, int | None]
"""Parameters, bytes of the weights and operations."""
FACTS = ("parameters", "weight_bytes", "flops")


class Networks:
    """`key` stands for the bytes of the files: what was read of them stays true."""

    def __init__(self, confined: Confined) -> None:
        self._confined, self._lock = confined, threading.Lock()
        self._graphs: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._facts: OrderedDict[str, Facts | UsageError] = OrderedDict()

    def graph(self, key: str, model: Path, weights: Path | None, weights_key: str | None) -> dict[str, Any]:
        with self._lock:
            known = self._graphs.get(key)
        if known is not None:
            return known
        found: dict[str, Any] = self._confined.call(
            read_graph, model=str(model), weights=str(weights) if weights is not None else None, key=weights_key
        )
        with self._lock:
            _keep(self._graphs, key, found, _KEPT)
            _keep(self._facts, key, {name: found[name] for name in FACTS}, _KEPT_FACTS)
        return found

    def facts(self, key: str, model: Path, weights: Path | None, weights_key: str | None) -> Facts:
        """UsageError where the file cannot be read; it is not tried again and again."""
        with self._lock:
            known = self._facts.get(key)
        if known is None:
            try:
                found = self.graph(key, model, weights, weights_key)
                return {name: found[name] for name in FACTS}
            except UsageError as error:
                known = error
                with self._lock:
                    _keep(self._facts, key, error, _KEPT_FACTS)
        if isinstance(known, UsageError):
            raise UsageError(known.message, hint=known.hint)
        return known


def _keep(kept: OrderedDict[str, Any], key: str, value: Any, most: int) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)


def read_graph(model: str, weights: str | None, key: str | None) -> dict[str, Any]:
    """In a confined process: nothing of the files is run, and no path of this machine is told."""
    try:
        return graph_of(inspect_file(Path(model), Path(weights) if weights is not None else None, key))
    except MLModelScopeError as error:
        message = error.message
        for path in filter(None, (model, weights)):
            message = message.replace(path, Path(path).name)
        raise UsageError(message, hint=error.hint) from None
