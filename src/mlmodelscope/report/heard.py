"""What a model hears of a sound: the tensor that its steps make, as a picture.

The steps run once more, in a confined process of this Python: a record may be a stranger's, and neither time nor memory
is theirs to take. Features become a spectrogram, samples a waveform, as `mlmodelscope_worker/view.py` draws them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlmodelscope.confine.confined import Confined, Limits
from mlmodelscope.errors import LimitError, MLModelScopeError
from mlmodelscope.plan.plan import PlannedInput
from mlmodelscope.report import words
from mlmodelscope.report.thumbnail import write_png
from mlmodelscope_worker import view
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.sound import Sound
from mlmodelscope_worker.sample import Loader

AUDIO = "audio"
_LIMITS = Limits(cpu_s=20, memory_bytes=1 << 30)
_WIDE, _HIGH = 640, 256
_MOST_INPUTS = 2
Steps = Sequence[Mapping[str, Any]]
"""Names and parameters, as JSON has them."""


@dataclass(frozen=True)
class Heard:
    """One input of the model."""

    uri: str | None
    """A `data:` address, or nothing."""
    about: str
    """Which numbers these are, or why there is no picture."""
    is_wave: bool = False
    """Whether it is samples and no features."""


def heard_inputs(inputs: Sequence[PlannedInput]) -> list[list[dict[str, Any]]]:
    """The steps of those inputs that are sounds."""
    sounds = [each for each in inputs if each.part == AUDIO]
    return [[step.model_dump(mode="json") for step in each.steps] for each in sounds[:_MOST_INPUTS]]


class Hearing:
    """Draws what one model hears, for as long as a report is written; its process is started by the first sound."""

    def __init__(self, inputs: Sequence[PlannedInput]) -> None:
        self._inputs = heard_inputs(inputs)
        self._confined: Confined | None = None
        self._problem = ""

    def __enter__(self) -> Hearing:
        return self

    def __exit__(self, *_: object) -> None:
        if self._confined is not None:
            self._confined.close()

    def __call__(self, content: Mapping[str, Any]) -> tuple[Heard, ...]:
        return tuple(self._one(content, steps) for steps in self._inputs)

    def _one(self, content: Mapping[str, Any], steps: Steps) -> Heard:
        if self._problem:  # it took too much once: a page of sounds must not take it again and again
            return Heard(None, self._problem)
        if self._confined is None:
            self._confined = Confined(_LIMITS, processes=1)
        try:
            return shown(self._confined.call(drawn, content=dict(content), steps=list(steps)))
        except LimitError as error:
            self._problem = error.message
            return Heard(None, error.message)
        except MLModelScopeError as error:
            return Heard(None, error.message)


def shown(found: Mapping[str, Any]) -> Heard:
    if found["png"] is None:
        return Heard(None, found["reason"])
    low, high = (words.significant(found[name]) for name in ("low", "high"))
    about = f"{found['tensor'].replace(' x ', ' × ')}, from {low} to {high}"
    return Heard(f"data:image/png;base64,{found['png']}", about, found["is_wave"])


def drawn(content: Mapping[str, Any], steps: Steps, wide: int = _WIDE, high: int = _HIGH) -> dict[str, Any]:
    """The tensor that these steps make of a sound, for the confined process: its picture as a PNG in base64."""
    reason = _refused(steps)
    if reason:
        return _without(reason)
    try:
        import numpy  # noqa: F401
    except ImportError:
        return _without("drawing it needs numpy")
    tensor = view.tensor_of(lambda: Loader()(content, [], AUDIO), steps)
    if isinstance(tensor, str):
        if tensor.startswith("MemoryError"):  # what is left of this process's memory is in pieces
            raise MemoryError
        return _without(tensor)
    (found,), pictures = view.draw([tensor])
    if "part" not in found:
        return _without(found["reason"])
    return {
        "png": _png(pictures[found["part"]], wide, high),
        "reason": "",
        "is_wave": isinstance(tensor, Sound),
        **{name: found[name] for name in ("tensor", "low", "high")},
    }


def _without(reason: str) -> dict[str, Any]:
    return {"png": None, "reason": reason, "tensor": "", "low": 0.0, "high": 0.0, "is_wave": False}


def _refused(steps: Steps) -> str:
    """Why these steps are not run here; empty where they are steps of sounds, known to this program."""
    kind: str | None = "encoded sound"
    for each in steps:
        declaration = STEPS.get(each["name"])
        if declaration is None:
            return f"the step `{str(each['name'])[:80]}` is not one of this program"
        kind = declaration.after(kind)
        if kind is None:
            return f"the step `{each['name']}` is not for sounds"
    return ""


def _png(pixels: Any, wide: int, high: int) -> str:
    """Of more rows or columns than there is room for, some."""
    down, across = (-(-size // most) for size, most in zip(pixels.shape, (high, wide), strict=False))
    rows = [row.tobytes() for row in pixels[::down, ::across, 0]]
    return base64.b64encode(write_png(rows, 1)).decode("ascii")
