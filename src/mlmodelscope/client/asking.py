"""Asking a model on a server about some inputs, in turn while it stays open there."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from mlmodelscope.client.http import raise_document
from mlmodelscope.errors import ArtifactError, InputError
from mlmodelscope.model_input import DOCUMENT, Given, ModelInput, row_input, text_input
from mlmodelscope.prediction import Prediction
from mlmodelscope.task.shape import read_shapes
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.client import Stage

_MARGIN_S = 15.0
_TIMEOUT_S = 120.0


class Streams(Protocol):
    def stream(
        self, path: str, more: Mapping[str, str], body: Mapping[str, Any] | None = None, quiet_s: float = 60
    ) -> Iterator[dict[str, Any]]: ...


def ask_about(
    client: Streams,
    question: Mapping[str, Any],
    inputs: Sequence[ModelInput | Given],
    watcher: Watcher | None = None,
) -> list[Prediction]:
    """What the model says of each; one that has no answer has an error, and the others theirs.

    `question` is what the API takes: model, software, options, where, trust, timeout_s.
    """
    found = []
    for number, each in enumerate(inputs):
        given = each if isinstance(each, ModelInput) else _named(each, number)
        called, content = given.name, _content(given)
        try:
            answer = _answer(client, {**question, "input": content}, watcher or Watcher())
        except InputError as error:
            found.append(Prediction(called, (), (), (), error.message))
            continue
        found.append(
            Prediction(
                called,
                tuple(answer["classes"]),
                tuple(answer["names"]),
                tuple(answer["scores"]),
                None,
                answer["answer"],
                tuple(Stage(**each) for each in answer["stages"]),
                read_shapes(answer.get("shapes", ())),
                answer.get("prompt"),
            )
        )
    return found


def _named(given: Given, number: int) -> ModelInput:
    """Two texts and a row are what they look like; a text alone would be taken for the name of a file."""
    if isinstance(given, tuple):
        return text_input(*given)
    if isinstance(given, Mapping):
        return row_input(given)
    return ModelInput(f"input {number}" if isinstance(given, bytes) else str(given), given)


def _content(asked: ModelInput) -> dict[str, Any]:
    given = asked.content
    if isinstance(given, Mapping):
        return {name: value for part, form in given.items() for name, value in _spell(part, form).items()}
    if isinstance(given, str) and given.startswith(("http://", "https://")):
        return {"url": given}
    content = given if isinstance(given, bytes) else _read(Path(given))
    return {"base64": base64.b64encode(content).decode()}


def _spell(part: str, form: Mapping[str, Any]) -> dict[str, Any]:
    """A part as the API has it: {"text": …}, {"text_pair": …}, {"cells": {…}}."""
    if part == DOCUMENT:
        return {"turns": form[DOCUMENT]["turns"]}
    return {"cells": dict(form["cells"])} if "cells" in form else {part: form["text"]}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ArtifactError(f"there is no file {path.absolute()}") from None
    except OSError as error:
        raise ArtifactError(f"cannot read {path}: {error.strerror}") from None


def _answer(client: Streams, body: Mapping[str, Any], watcher: Watcher) -> dict[str, Any]:
    quiet_s = float(body.get("timeout_s", _TIMEOUT_S)) + _MARGIN_S
    for event in client.stream("/predictions", {"Accept": "text/event-stream"}, body, quiet_s):
        kind = event["kind"]
        if kind == "answer":
            return event
        if kind == "problem":
            raise_document(event["status"], event)
        if kind == "downloading":
            watcher.downloading(event["name"], event["done"], event["of"])
        elif kind == "building":
            watcher.building(event["text"])
        elif kind == "piece":
            watcher.wrote(event["text"])
    raise_document(503, {"detail": "it ended without an answer"})
