"""A server in place of this machine: it does the work, and records are fetched when they are looked at."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from mlmodelscope.client.asking import ask_about
from mlmodelscope.client.client import Client, Evaluation
from mlmodelscope.client.shelf import Shelf
from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.manifest.schema.part import Manifest
from mlmodelscope.model_input import FILE, Inputs, read_inputs
from mlmodelscope.plan.input import part_taken
from mlmodelscope.plan.options import Options
from mlmodelscope.prediction import Prediction
from mlmodelscope.record.bundle import take_in
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.record.told import Told
from mlmodelscope.replicate.outcome import Findings
from mlmodelscope.replicate.sensed import Sensed
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher

_DEFAULTS = asdict(Options())
Choice = str | Manifest
_NEWEST = 1000


class Remote:
    """Everything that verbs ask of a server; what they fetch is here as long as this is open."""

    def __init__(self, url: str, token: str | None, settings: Settings) -> None:
        self.client = Client(url, token)
        self._told: dict[str, Any] = {}
        self._place = tempfile.TemporaryDirectory(prefix="mlmodelscope-")
        self.settings = replace(settings, home=Path(self._place.name), database=None, blobs=None)

    def close(self) -> None:
        self.client.close()
        self._place.cleanup()

    @property
    def shelf(self) -> Shelf:
        """The server's manifests."""
        return Shelf(self.client)

    def store(self) -> Store:
        return FetchingStore(self.settings, self.client)

    def run(
        self,
        kind: str,
        model: Choice,
        dataset: Choice | None,
        options: Options,
        *,
        software: Choice | None = None,
        hardware: Choice | None = None,
        arguments: Mapping[str, Any] | None = None,
        trust: bool = False,
        again: bool = False,
        watcher: Watcher | None = None,
    ) -> Record:
        """Have it done there, tell how it goes, and fetch the record."""
        request = {
            "kind": kind,
            "model": self._with_files(model, watcher),
            "dataset": self._with_files(dataset, watcher),
            "software": manifest_of(software),
            "hardware": manifest_of(hardware),
            "options": {name: value for name, value in asdict(options).items() if value != _DEFAULTS[name]},
            "arguments": dict(arguments or {}),
            "trust": trust,
            "again": again,
        }
        (evaluation,) = self.client.ask({name: value for name, value in request.items() if value is not None})
        watcher = watcher or Watcher()
        if not again:
            for each in evaluation.earlier[:1]:
                watcher.building(_known(each))
        try:
            self._told = _follow(evaluation, watcher)
        except KeyboardInterrupt:
            evaluation.cancel()
            raise
        record = evaluation.refresh().record()
        store = self.store()
        try:
            return store.get(record.id)
        finally:
            store.close()

    def predict(
        self,
        model: str,
        inputs: Inputs,
        options: Options,
        *,
        software: str | None = None,
        trust: bool = False,
        watcher: Watcher | None = None,
        write: Mapping[str, Any] | None = None,
    ) -> list[Prediction]:
        """As the library's own `predict`, answered there."""
        chosen = {name: value for name, value in asdict(options).items() if value != _DEFAULTS[name]}
        question = {
            "model": self._with_files(model, watcher),
            "software": manifest_of(software),
            "options": chosen,
            "trust": trust,
            "write": dict(write) if write else None,
        }
        asked = {name: value for name, value in question.items() if value is not None}
        return ask_about(self.client, asked, read_inputs(inputs, self._part(model)), watcher)

    def _part(self, model: str) -> str:
        """The part of a sample that the model's first input takes, by its manifest here or there."""
        try:
            if _is_file(model):
                found = load_manifest(model)
                return part_taken(found) if isinstance(found, ModelManifest) else FILE
            return part_taken(self.shelf.find(ModelManifest, model))
        except UsageError:  # what is wrong with the name, the server says better
            return FILE

    def replicate(self, model: str, dataset: str | None, options: Options, **asked: Any) -> Findings:
        """Have a claim checked there; what was found has come with the record."""
        record = self.run("replicate", model, dataset, options, **asked)
        store = self.store()
        try:
            return Findings(store, record.id, str(self._told.get("finding")))
        finally:
            store.close()

    def sensitivity(self, model: str, dataset: str | None, options: Options, **asked: Any) -> tuple[Record, Sensed]:
        """Have each pitfall's cost measured there."""
        record = self.run("sensitivity", model, dataset, options, **asked)
        return record, Sensed.model_validate(self._told)

    def _with_files(self, choice: Choice | None, watcher: Watcher | None) -> str | dict[str, str] | None:
        """As `manifest_of`; the files of this machine that it names are uploaded where the server lacks them."""
        if isinstance(choice, Manifest):
            choice = choice.file
        if choice is None or not _is_file(choice):
            return choice
        if not Path(choice).is_file():
            return manifest_of(choice)
        from mlmodelscope.client.upload import manifest_text

        return {"text": manifest_text(self.client, Path(choice), (watcher or Watcher()).downloading)}


def _is_file(choice: str) -> bool:
    return choice.endswith((".yml", ".yaml")) or Path(choice).is_file()


def _known(earlier: Mapping[str, Any]) -> str:
    """A record that is there already, in a line."""
    how = "the same" if earlier["exact"] else f"nearly the same ({'; '.join(earlier['differs'])})"
    return f"the server has {how} already: mlmodelscope report {earlier['record']}"


def manifest_of(choice: Choice | None) -> str | dict[str, str] | None:
    """A manifest's name stays a name; a file of this machine goes along as what it says."""
    if isinstance(choice, Manifest):
        choice = choice.file
    if choice is None or choice == "current" or choice.startswith("image:"):
        return choice
    if not _is_file(choice):
        return choice
    try:
        return {"text": Path(choice).read_text(encoding="utf-8")}
    except OSError as error:
        raise UsageError(f"cannot read {choice}: {error.strerror}") from None


def _follow(evaluation: Evaluation, watcher: Watcher) -> dict[str, Any]:
    """Tell what happens; what was found beside the record, where something was."""
    found: dict[str, Any] = {}
    for event in evaluation.events():
        kind = event["kind"]
        if kind == "progress" and not event.get("parts") and "failed" in event:
            watcher.answered(event["done"], event["of"], event["failed"])
        elif kind == "downloading":
            watcher.downloading(event["name"], event["done"], event["of"])
        elif kind == "building":
            watcher.building(event["text"])
        elif kind == "note":
            watcher.benching(event["text"])
        elif kind == "tried":
            watcher.tried(event["samples"], event["variants"])
        elif kind == "waiting" and event.get("because"):
            watcher.waiting(event["because"])
        elif kind in ("verdict", "sensed"):
            found = {name: value for name, value in event.items() if name not in ("number", "at", "kind")}
    return found


class FetchingStore(Store):
    """Records of a server, here when they are asked for."""

    def __init__(self, settings: Settings, client: Client) -> None:
        super().__init__(settings)
        self._client = client

    def get(self, name: str) -> Record:
        identity = self._client.record(name).id
        try:
            found = super().get(identity)
            if found.id == identity:
                return found
        except UsageError:
            pass
        bundle = self.home / f"{identity}.zip"
        self._client.download(f"/records/{identity}/bundle", bundle)
        try:
            return take_in(self, bundle)
        finally:
            bundle.unlink(missing_ok=True)

    def list(
        self,
        model: str | None = None,
        dataset: str | None = None,
        status: str | None = None,
        limit: int = 50,
        kind: str | None = None,
    ) -> list[dict[str, Any]]:
        return self._client.records(model=model, dataset=dataset, status=status, limit=min(limit, 1000), kind=kind)

    def newest(self, models: Sequence[str] = (), all_of_them: bool = False) -> Iterator[Record]:
        seen: set[tuple[str, str]] = set()
        for row in self.list(status="finished", limit=_NEWEST):
            if (models and row["model"] not in models) or (row["made_for"] and not all_of_them):
                continue
            record = self._client.record(row["id"])
            work = record.plan_digest, record.machine.digest
            if work not in seen:
                seen.add(work)
                yield record

    def newest_told(self, models: Sequence[str] = (), all_of_them: bool = False) -> Iterator[Record | Told]:
        return self.newest(models, all_of_them)

    def delete(self, record: Record) -> None:
        self._client.delete(f"/records/{record.id}")
        super().delete(record)
