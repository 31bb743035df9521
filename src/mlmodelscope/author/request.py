"""What the author says on the command line, checked once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlmodelscope.author.fields import numbers_of, tidy
from mlmodelscope.errors import UsageError, VersionError
from mlmodelscope.manifest.schema.task import task_names
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope_worker.pipeline.library import DCT_METHODS, RESIZE_METHODS, antialias_choices

COLORS = ("RGB", "BGR", "GRAY")
_CLAIM = re.compile(r"(?P<metric>[^=@]+)=(?P<value>\d{1,6}(\.\d{1,10})?)%?(@(?P<dataset>[^:]+)(:(?P<source>.+))?)?")
_SIZE = re.compile(r"(\d{1,5})(?:x(\d{1,5}))?")


@dataclass(frozen=True)
class Request:
    """Every flag as it was written; `checked` refuses what cannot be meant."""

    model: Path | None = None
    configs: tuple[Path, ...] = ()
    name: str | None = None
    version: str | None = None
    task: str | None = None
    color: str | None = None
    mean: str | None = None
    std: str | None = None
    scale: str | None = None
    resize: str | None = None
    crop: str | None = None
    library: str | None = None
    method: str | None = None
    labels: str | None = None
    """A file, or a reference as manifests have them."""
    label_offset: int | None = None
    license: str | None = None
    description: str | None = None
    framework_version: str | None = None
    dataset: str | None = None
    claims: tuple[str, ...] = ()
    model_name: str | None = None
    launcher: str | None = None
    output: Path | None = None
    """Where the manifest will lie; paths in it are relative to that."""

    def checked(self) -> Request:
        if self.model is None and not self.configs:
            raise UsageError("nothing to start from", hint="name a model file, or a configuration with --from, or both")
        if self.name is not None and not is_name(self.name):
            raise UsageError(
                f"`{self.name[:60]}` is no name: letters, digits and . _ + - only, a letter or digit first"
            )
        _refuse_unless_known("--task", self.task, task_names())
        _refuse_unless_known("--color", self.color and self.color.upper(), COLORS)
        _refuse_unless_known("--library", self.library, tuple(sorted(DCT_METHODS)))
        if self.library in RESIZE_METHODS:
            _refuse_unless_known("--method", self.method, RESIZE_METHODS[self.library])
        methods = sorted({method for known in RESIZE_METHODS.values() for method in known})
        _refuse_unless_known("--method", self.method, tuple(methods))
        if self.label_offset is not None and not -10000 <= self.label_offset <= 10000:
            raise UsageError("--label-offset is from -10000 to 10000")
        for flag, text, kind in (
            ("--version", self.version, Version),
            ("--framework-version", self.framework_version, Constraint),
        ):
            try:
                if text is not None:
                    kind(text)
            except VersionError as error:
                raise UsageError(f"{flag}: {error.message}", hint=error.hint) from None
        # These raise where they cannot be read.
        _ = self.mean_values, self.std_values, self.scale_values, self.resize_value, self.crop_value, self.claim_values
        return self

    @property
    def mean_values(self) -> float | list[float] | None:
        return _channels("--mean", self.mean)

    @property
    def std_values(self) -> float | list[float] | None:
        return _channels("--std", self.std, divisor=True)

    @property
    def scale_values(self) -> float | list[float] | None:
        return _channels("--scale", self.scale, divisor=True)

    @property
    def resize_value(self) -> dict[str, Any] | None:
        """`256` is the shorter side, `256x320` height and width, `max:640` the longer side."""
        if self.resize is None:
            return None
        longer = self.resize.lower().startswith("max:")
        height, width = _size("--resize", self.resize.lower().removeprefix("max:"))
        if longer:
            return {"max_dimension": height}
        return {"short_side": height} if width is None else {"dimensions": [height, width]}

    @property
    def crop_value(self) -> dict[str, Any] | None:
        """`224`, `224x256` or `87.5%` of the sides."""
        if self.crop is None:
            return None
        if self.crop.endswith("%"):
            share = numbers_of(self.crop[:-1])
            if share is None or len(share) != 1 or not 0 < share[0] <= 100:
                raise UsageError(f"--crop: `{self.crop[:30]}` is no percentage up to 100")
            return {"method": "center", "percentage": tidy(share[0])}
        height, width = _size("--crop", self.crop)
        return {"method": "center", "dimensions": [height, height if width is None else width]}

    @property
    def claim_values(self) -> list[dict[str, Any]]:
        """`top1=75.1@imagenet-val:https://…`"""
        found: list[dict[str, Any]] = []
        for text in self.claims:
            match = _CLAIM.fullmatch(text.strip())
            if match is None or not is_name(match["metric"]):
                raise UsageError(
                    f"`{text[:60]}` is no claim", hint="a claim looks like top1=75.1@imagenet-val:https://where.it/is"
                )
            parts = {key: match[key] for key in ("metric", "value", "dataset", "source")}
            found.append({key: value for key, value in parts.items() if value})
        return found


def is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}", text) is not None


def name_from(text: str) -> str | None:
    """The nearest thing to a name in what a stranger calls something."""
    name = re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-._+")[:100]
    return name if is_name(name) else None


def resize_library(wanted: str | None, method: str) -> str:
    """The library that was named if it can, else one that knows the method."""
    if wanted in RESIZE_METHODS and method in RESIZE_METHODS[wanted]:
        return wanted
    return next(name for name in ("pillow", "opencv", "tensorflow", "torchvision") if method in RESIZE_METHODS[name])


def antialiases(library: str, method: str) -> bool:
    return bool(antialias_choices(library, method)[0])


def _refuse_unless_known(flag: str, value: str | None, known: tuple[str, ...]) -> None:
    if value is not None and value not in known:
        raise UsageError(f"{flag}: `{value[:60]}` is not known\nknown: {', '.join(known)}")


def _channels(flag: str, text: str | None, divisor: bool = False) -> float | list[float] | None:
    if text is None:
        return None
    values = numbers_of(text)
    if values is None or len(values) > 4 or any(abs(value) > 1e12 or value != value for value in values):
        raise UsageError(f"{flag}: `{text[:60]}` is no number and no list such as 123.7,116.3,103.5")
    if divisor and 0 in values:
        raise UsageError(f"{flag}: a divisor cannot be 0")
    return per_channel(values)


def per_channel(values: list[float]) -> float | list[float]:
    """One number where all channels have the same."""
    tidied = [tidy(value) for value in values]
    return tidied[0] if len(set(tidied)) == 1 else tidied


def _size(flag: str, text: str) -> tuple[int, int | None]:
    match = _SIZE.fullmatch(text.strip().lower())
    sides = [int(side) for side in match.groups() if side] if match else []
    if not sides or not all(0 < side <= 65535 for side in sides):
        raise UsageError(f"{flag}: `{text[:30]}` is no size such as 224 or 224x256 (height x width)")
    return sides[0], sides[1] if len(sides) > 1 else None
