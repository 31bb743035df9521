"""What the server has confined processes read of samples that are not pictures: texts, rows and sounds."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from mlmodelscope.dataset.parts import digest_of_parts
from mlmodelscope.errors import UsageError
from mlmodelscope.report.heard import drawn
from mlmodelscope.report.own_content import own_content
from mlmodelscope.report.predictions import find_predictions
from mlmodelscope.report.sound import Recording, Unplayable, recording, wave_of
from mlmodelscope.server.confined_work import refuse_another
from mlmodelscope_worker.pipeline.header import ImageError
from mlmodelscope_worker.sample import part_to_see

_WIDE, _HIGH = 1600, 512
"""Of a picture of what a model hears."""


def told_input(content: dict[str, Any], digest: str, largest: int) -> dict[str, Any]:
    """What a sample is; of a sound how loud it is, and why it cannot be played if it cannot."""
    own = own_content(content)
    audio = content.get("parts", {}).get("audio", {})
    return {
        "kind": part_to_see(content),
        "texts": [{"title": title, "text": text} for title, text in own.texts],
        "cells": [{"column": column, "value": value} for column, value in own.cells],
        "more_cells": own.more_cells,
        "sound": _told_sound(content, digest, largest) if "file" in audio else None,
    }


def _told_sound(content: dict[str, Any], digest: str, largest: int) -> dict[str, Any]:
    nothing: dict[str, Any] = {"reason": None, "remark": "", "seconds": None, "about": "", "peaks": []}
    try:
        found = _recording(content, digest, largest)
    except UsageError as error:
        return {**nothing, "reason": error.message}
    wave = wave_of(found.data)
    if wave is None:
        return {**nothing, "remark": found.remark}
    peaks = [[round(low, 4), round(high, 4)] for low, high in wave.peaks]
    return {**nothing, "remark": found.remark, "seconds": wave.seconds, "about": wave.about, "peaks": peaks}


def sound(content: dict[str, Any], digest: str, largest: int) -> bytes:
    """The file that a browser plays, which may be a piece of the sample's."""
    return _recording(content, digest, largest).data


def _recording(content: dict[str, Any], digest: str, largest: int) -> Recording:
    audio = content.get("parts", {}).get("audio", {})
    if "file" not in audio:
        raise UsageError("it is not a sound")
    try:
        _refuse_changed(content, digest)
        return recording(audio, largest)
    except (Unplayable, ImageError, OSError) as error:
        raise UsageError(str(error)) from None


def heard(content: dict[str, Any], digest: str, inputs: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """What a model hears of a sound with each of its inputs."""
    if "file" not in content.get("parts", {}).get("audio", {}):
        raise UsageError("it is not a sound")
    try:
        _refuse_changed(content, digest)
    except (ImageError, OSError) as error:
        raise UsageError(str(error)) from None
    return [drawn(content, steps, _WIDE, _HIGH) for steps in inputs]


def _refuse_changed(content: dict[str, Any], digest: str) -> None:
    """Of a sample that is a piece of a file, the whole file counts."""
    if "file" in content:
        refuse_another(content, digest)
    elif digest_of_parts(content["parts"]) != digest:
        raise ImageError("its file has changed")


def residuals(folder: str, task: str) -> dict[str, Any] | None:
    """Numbers that were answered beside those that are true; None where the task compares none."""
    found = find_predictions(Path(folder), task)
    return None if found is None else asdict(found)
