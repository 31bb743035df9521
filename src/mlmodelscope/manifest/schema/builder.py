"""Models that a library builds, as a manifest names them: checked as far as that can be done without the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from mlmodelscope_worker.builder.libraries import LIBRARIES, check_architecture, check_options
from mlmodelscope_worker.parameters import ParameterError

BuilderName = Literal["timm", "torchvision", "transformers"]

_SPELLINGS = {"pytorch": ("pytorch", "torch")}


def frameworks_of(builder: str) -> tuple[str, ...]:
    """The framework whose models a library builds, and what else authors call it."""
    return _SPELLINGS[LIBRARIES[builder].framework]


def packages_of_builder(builder: str | None) -> tuple[str, ...]:
    """The distributions that a stack must have for a builder."""
    return LIBRARIES[builder].packages if builder is not None else ()


def refuse_source(
    builder: str, architecture: str | None, options: Mapping[str, Any], graph: str | None, weights: str | None
) -> None:
    """ValueError where the keys of a source with a builder do not go together, or reach more than an architecture."""
    if architecture is None:
        raise ValueError(f"the key `architecture` is missing: a name such as {LIBRARIES[builder].example}")
    try:
        check_architecture(builder, architecture)
        check_options(_plain(dict(options)))
    except ParameterError as error:
        raise ValueError(f"`{error.parameter}` {error.message}") from None
    if weights is None:
        raise ValueError("the key `weights_path` is missing: a builder makes an architecture, the weights are a file")
    if graph is not None and not LIBRARIES[builder].takes_config:
        raise ValueError(f"the key `graph_path` does not go with the builder {builder}: the architecture has a name")


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as plain data, without the places that values out of a manifest know."""
    plain: dict[str, Any] = _plain(dict(options))
    return plain


def _plain(value: Any) -> Any:
    """Numbers of a manifest remember how they were written; what is compared and hashed is the number."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value
