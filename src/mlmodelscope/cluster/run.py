"""One evaluation in a process of its own: work on standard input, events on standard output, a line of JSON each.

The end of standard input means that whoever started it is gone: nobody waits for the answer, so it ends, too.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from mlmodelscope.errors import (
    ArtifactError,
    ChecksumError,
    MLModelScopeError,
    OfflineError,
    StoreError,
    UsageError,
    WorkerError,
)
from mlmodelscope.evaluation import Watcher
from mlmodelscope.ledger.request import Work
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.manifest.schema import DatasetManifest, HardwareManifest, ModelManifest, SoftwareManifest
from mlmodelscope.manifest.schema.part import Manifest
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.plan.options import Options
from mlmodelscope.record.record import Record
from mlmodelscope.settings import Settings
from mlmodelscope.worker.client import Latency

Sought = TypeVar("Sought", bound=Manifest)

_EVERY_S = 0.5
_TRY_AGAIN = (WorkerError, ArtifactError, StoreError)
"""What passes by itself: a worker that died, a download, a database that is being restarted."""
_NOT_AGAIN = (ChecksumError, OfflineError)


def main() -> None:
    work = Work.model_validate_json(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_the_agent, daemon=True).start()
    try:
        told = do(work, Settings.from_environment(), Teller())
        say("done", **told)
    except MLModelScopeError as error:
        again = isinstance(error, _TRY_AGAIN) and not isinstance(error, _NOT_AGAIN)
        say("failed", error=type(error).__name__, message=error.message, hint=error.hint, again=again)
    except Exception as error:
        traceback.print_exc()
        reason = f"{type(error).__name__}: {error}"
        say("failed", error="Surprise", message=f"an error of our own: {reason}", hint=None, again=False)


def _end_with_the_agent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def say(kind: str, **document: Any) -> None:
    sys.stdout.write(json.dumps({"kind": kind, **document}) + "\n")
    sys.stdout.flush()


class Teller(Watcher):
    """What happens, as events; progress at most twice a second."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def _often(self, what: str) -> bool:
        moment = time.monotonic()
        if moment - self._last.get(what, -_EVERY_S) < _EVERY_S:
            return True
        self._last[what] = moment
        return False

    def downloading(self, name: str, done: int, total: int | None) -> None:
        if not self._often("downloading") or done == total:
            say("downloading", name=name, done=done, of=total)

    def waiting(self, reason: str) -> None:
        say("note", text=reason)

    def building(self, what: str) -> None:
        say("building", text=what)

    def resuming(self, record: Record, done: int, total: int) -> None:
        say("resuming", record=record.id, done=done, of=total)

    def measured(self, latency: Latency) -> None:
        say("measured", batch_size=latency.batch_size, runs=len(latency.raw_ns))

    def benching(self, what: str) -> None:
        say("note", text=what)

    def answered(self, done: int, total: int, failed: int) -> None:
        if not self._often("answered") or done == total:
            say("progress", done=done, of=total, failed=failed)

    def trained(self, progress: float, metrics: dict[str, float]) -> None:
        say("progress", done=progress, of=1, metrics=metrics)

    def judged(self, metric: str, claimed: float, measured: float, accepted: tuple[float, float]) -> None:
        low, high = accepted
        say("judged", metric=metric, claimed=claimed, measured=measured, low=low, high=high)

    def tried(self, samples: int, variants: Sequence[Mapping[str, Any]]) -> None:
        say("tried", samples=samples, variants=list(variants))


def do(work: Work, settings: Settings, watcher: Watcher) -> dict[str, Any]:
    """Do it, and say which record it is in."""
    model = manifest_from(ModelManifest, work.model)
    common: dict[str, Any] = {
        "software": software_from(work.software),
        "hardware": manifest_from(HardwareManifest, work.hardware) if work.hardware else None,
        "trust": work.trust,
        "settings": settings,
        "watcher": watcher,
    }
    dataset = manifest_from(DatasetManifest, work.dataset) if work.dataset else None
    options = at_device(Options(**work.options), model, os.environ.get("MLMODELSCOPE_SPEAKS_FOR"))
    if work.kind == "evaluate":
        from mlmodelscope.evaluation import evaluate

        return {"record": evaluate(model, dataset, options, again=work.again, **common).id}
    if work.kind == "bench":
        from mlmodelscope.benching import Request, bench

        asked = dict(work.arguments)
        outside = {key: asked.pop(key) for key in ("streams", "end_to_end") if key in asked}
        return {"record": bench(model, dataset, options, Request(**asked), **outside, **common).id}
    if work.kind == "profile":
        from mlmodelscope.profiling import profile

        record, _ = profile(model, dataset, options, **work.arguments, **common)
        return {"record": record.id}
    if work.kind == "train":
        from mlmodelscope.training import train

        return {"record": train(model, dataset, options, again=work.again, **work.arguments, **common).id}
    if work.kind == "replicate":
        return {"record": _replicate(model, dataset, options, work, common)}
    if work.kind == "sensitivity":
        return {"record": _sensitivity(model, dataset, options, work, common)}
    if work.kind == "shard":
        from mlmodelscope.sharding import evaluate_shard

        assert work.shard is not None
        path = evaluate_shard(model, dataset, options, work.shard.number, work.shard.of, **common)
        return {"shard": str(path)}
    raise UsageError(f"this agent does not know the work `{work.kind}`", hint="upgrade mlmodelscope there")


def at_device(options: Options, model: ModelManifest, own: str | None) -> Options:
    """A model that names no server is asked at the one that this agent speaks for."""
    is_remote = model.framework is not None and framework_word(model.framework) == "remote"
    named = options.predictor_options.get("url") or (model.remote.url if model.remote else None)
    if not own or not is_remote or named:
        return options
    return replace(options, predictor_options={**options.predictor_options, "url": own})


def _replicate(
    model: ModelManifest, dataset: DatasetManifest | None, options: Options, work: Work, common: dict[str, Any]
) -> str:
    """The verdict goes out as an event, what was found is kept with the record of the manifest as it is."""
    from mlmodelscope.record.store import Store
    from mlmodelscope.replicate.claim import parse_claim
    from mlmodelscope.replicate.outcome import finding_of, keep
    from mlmodelscope.replicate.replication import replicate

    asked = dict(work.arguments)
    claim = asked.pop("claim", None)
    done = replicate(model, dataset, options, claim=parse_claim(claim) if claim else None, **asked, **common)
    store = Store(common["settings"])
    try:
        key = keep(done, store)
    finally:
        store.close()
    told = finding_of(done).model_dump(mode="json", exclude={"candidates", "causes", "shown"})
    say("verdict", **told, finding=key)
    return done.record.id


def _sensitivity(
    model: ModelManifest, dataset: DatasetManifest | None, options: Options, work: Work, common: dict[str, Any]
) -> str:
    """What each pitfall would cost goes out as an event; the record is that of the manifest as it is."""
    from mlmodelscope.evaluation import evaluate
    from mlmodelscope.replicate.pitfall import check_names
    from mlmodelscope.replicate.sensed import sensed_of
    from mlmodelscope.replicate.sensitivity import measure

    chosen = work.arguments.get("pitfalls") or None
    check_names(chosen or ())
    record = evaluate(model, dataset, options, again=work.again, **common)
    exact = bool(work.arguments.get("exact"))
    measured = measure(record, common["settings"], chosen, watcher=common["watcher"], exact=exact)
    say("sensed", **sensed_of(record, measured).model_dump(mode="json"))
    return record.id


def manifest_from(sought: type[Sought], text: str) -> Sought:
    """A manifest that came as text; where the same one is at hand, its files lie beside that."""
    document = parse_document(text, "<request>", Path(os.devnull))
    name = str(document.data.get("name") or document.data.get("id") or "")
    manifest = document.manifest()
    assert isinstance(manifest, sought)
    try:
        own = find_manifest(sought, f"{name}@{manifest.version}")
    except MLModelScopeError:
        return manifest
    return own if own.digest == manifest.digest else manifest


def software_from(text: str | None) -> str | SoftwareManifest | None:
    if text is None or text == "current" or text.startswith("image:"):
        return text
    return manifest_from(SoftwareManifest, text)


if __name__ == "__main__":
    main()
