"""A predictor's options: from the manifest, the command and the declaration's defaults."""

from __future__ import annotations

import json
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.schema import HardwareManifest, ModelManifest
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import PlannedPredictor
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope_worker.parameters import ParameterError, Text

ELSEWHERE = ("remote", "openai")
"""Predictors that ask a server: what the model runs on is not this machine."""


def plan_predictor(model: ModelManifest, predictor: str | None, options: Options, threads: int) -> PlannedPredictor:
    given = {"threads": threads, **_written_options(model, predictor), **options.predictor_options}
    if predictor is None:
        return PlannedPredictor(name=None, options=given)
    declaration = PREDICTORS[predictor]
    given = {name: _as_text(declaration.kinds.get(name), value) for name, value in given.items()}
    try:
        resolved = declaration.resolve(given)
    except ParameterError as error:
        known = f"\nknown: {', '.join(error.known)}" if error.known else ""
        where = f" `{error.parameter}`" if error.parameter else ""
        hint = f"--option {error.parameter}=…" if error.parameter and error.parameter not in given else None
        raise UsageError(f"option{where} of {predictor}: {error.message}{known}", hint=hint) from None
    return PlannedPredictor(
        name=predictor,
        options={name: value for name, value in resolved.items() if name not in declaration.where},
        where={name: value for name, value in resolved.items() if name in declaration.where},
    )


def choose_threads(options: Options, hardware: HardwareManifest | None) -> int:
    """The hardware manifest's number where the command gives none; conflicting numbers are an error."""
    chosen = hardware.settings.threads if hardware and hardware.settings else None
    if chosen is None or (chosen.optional and options.threads != 1):
        return options.threads
    if options.threads not in (1, chosen.value):
        assert hardware is not None
        raise UsageError(
            f"{hardware.reference} sets {chosen.value} threads, the command {options.threads}",
            hint="leave one of them out, or write `threads: {value: …, optional: true}` into the manifest",
        )
    return chosen.value


def _written_options(model: ModelManifest, predictor: str | None) -> dict[str, Any]:
    """What the manifest itself says of its server."""
    if predictor not in ELSEWHERE:
        return {}
    written: dict[str, Any] = {"model": model.name}
    if model.remote is not None:
        written |= model.remote.model_dump(exclude_none=True, exclude={"config"})
        if model.remote.config:
            written["config"] = json.dumps(model.remote.config, sort_keys=True, default=str)
    return written


def _as_text(kind: object, value: Any) -> Any:
    """The command line takes `model_version=3` for a number; the option is a text."""
    return str(value) if isinstance(kind, Text) and isinstance(value, int) and not isinstance(value, bool) else value
