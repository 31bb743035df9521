"""Which models are served, and their answers. Nothing here knows how a question came."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.inference.opened import OpenModel, plan_tensors
from mlmodelscope.inference.refusal import Refusal
from mlmodelscope.inference.tensors import Answer, Question, described
from mlmodelscope.manifest.catalog import find_manifest, find_model, list_catalog
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.site import Site
from mlmodelscope.settings import Settings
from mlmodelscope.worker.process import WorkerDied
from mlmodelscope.worker.warm import Warm
from mlmodelscope_worker import __version__

EXTENSIONS = ("binary_tensor_data", "model_repository")
_MOST_OPEN = 4
_MOST_WAITING = 64


@dataclass(frozen=True)
class Served:
    """A model that may be asked."""

    manifest: ModelManifest
    plan: Plan
    site: Site
    inputs: list[dict[str, Any]]
    outputs: list[dict[str, Any]]

    def open(self) -> OpenModel:
        return OpenModel(self.plan, self.site)

    def describe(self) -> dict[str, Any]:
        return {
            "name": self.manifest.name,
            "versions": [str(self.manifest.version)],
            "platform": self.plan.predictor.name,
            "inputs": self.inputs,
            "outputs": self.outputs,
        }


class Models:
    """Models of the catalogue, or only those that are named, which are then loaded from the beginning.

    `busy` says why nothing may be asked just now, where that is so. At most so many models have a process each; one
    that had to make room is opened again by the next question.
    """

    def __init__(
        self, settings: Settings, names: Sequence[str] = (), busy: Callable[[], str | None] = lambda: None
    ) -> None:
        self._settings, self._busy = settings, busy
        self._named = {each.name: each for each in map(find_model, names)}
        self._warm: Warm[OpenModel] = Warm(max(_MOST_OPEN, len(self._named)))
        self._served: dict[str, Served] = {}
        self._failures: dict[str, str] = {}
        self._waiting = threading.BoundedSemaphore(_MOST_WAITING)

    def load_named(self) -> None:
        """Load those that were named; what cannot be loaded is an error."""
        for name in self._named:
            self.load(name)

    @property
    def is_ready(self) -> bool:
        """Whether those that were named can be asked."""
        return all(name in self._served for name in self._named)

    def server(self) -> dict[str, Any]:
        return {"name": "mlmodelscope", "version": __version__, "extensions": list(EXTENSIONS)}

    def index(self, ready_only: bool = False) -> list[dict[str, str]]:
        found = {name: self._state(name) for name in sorted(set(self._known()) | set(self._served))}
        return [each for each in found.values() if not ready_only or each["state"] == "READY"]

    def _state(self, name: str) -> dict[str, str]:
        served = self._served.get(name)
        if served is not None:
            return {"name": name, "version": str(served.manifest.version), "state": "READY", "reason": ""}
        reason = self._failures.get(name, "not loaded")
        return {"name": name, "state": "UNAVAILABLE", "reason": reason}

    def _known(self) -> list[str]:
        return list(self._named) or [each.name for each in list_catalog("models")]

    def find(self, name: str, version: str = "") -> Served:
        """A model that is loaded."""
        served = self._served.get(name)
        if served is None:
            if name not in self._known():
                raise Refusal(404, f"there is no model `{name[:200]}`")
            raise Refusal(400, f"the model `{name}` is not loaded; POST v2/repository/models/{name}/load")
        if version and version != str(served.manifest.version):
            raise Refusal(404, f"`{name}` is there in version {served.manifest.version}, not {version[:100]}")
        return served

    def is_loaded(self, name: str, version: str = "") -> bool:
        try:
            self.find(name, version)
        except Refusal:
            return False
        return True

    def load(self, name: str) -> None:
        """Open a model; one that is loaded is opened anew only where its manifest is another one meanwhile."""
        self._refuse_if_busy()
        manifest = self._named.get(name)
        if manifest is None:
            if name not in self._known():
                raise Refusal(404, f"there is no model `{name[:200]}` to load")
            manifest = find_manifest(ModelManifest, name)
        served = self._served.get(name)
        if served is not None and served.manifest.digest == manifest.digest:
            return
        try:
            with self._turn():
                self.unload(name)
                plan, site = plan_tensors(manifest, self._settings)
                with self._warm.use(manifest.digest, lambda: OpenModel(plan, site)) as opened:
                    inputs, outputs = described(opened.inputs), described(opened.outputs)
        except MLModelScopeError as error:
            self._failures[name] = error.message.splitlines()[0]
            raise
        self._failures.pop(name, None)
        self._served[name] = Served(manifest, plan, site, inputs, outputs)

    def unload(self, name: str) -> None:
        """Let a model go; whoever still waits for an answer gets it."""
        self._failures.pop(name, None)
        served = self._served.pop(name, None)
        if served is not None:
            self._warm.drop(served.manifest.digest)

    def infer(self, question: Question) -> Answer:
        self._refuse_if_busy()
        served = self.find(question.model, question.version)
        wanted = [each.name for each in question.outputs]
        known = [each["name"] for each in served.outputs]
        unknown = next((name for name in wanted if name not in known), None)
        if unknown is not None:
            raise Refusal(400, f"`{question.model}` has no output `{unknown[:200]}`; it has {', '.join(known)}")
        try:
            with self._turn(), self._warm.use(served.manifest.digest, served.open) as opened:
                found = opened.infer(question.tensors, wanted)
        except WorkerDied as error:
            raise Refusal(503, f"the model's process ended: {error.message.splitlines()[0]}") from None
        if not isinstance(found, list):
            raise found
        if wanted:
            found.sort(key=lambda each: wanted.index(each.name))
        return Answer(question.model, str(served.manifest.version), question.id, found)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._waiting.acquire(blocking=False):
            raise Refusal(503, f"more than {_MOST_WAITING} questions are waiting; come back later")
        try:
            yield
        finally:
            self._waiting.release()

    def _refuse_if_busy(self) -> None:
        reason = self._busy()
        if reason is not None:
            raise Refusal(503, reason)

    def close(self) -> None:
        self._served.clear()
        self._warm.close()
