"""Configurations that others write beside their models. Importing this package registers every importer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mlmodelscope.author.config_file import ConfigFile
from mlmodelscope.author.draft import Draft, joined, one_line
from mlmodelscope.author.importer import (  # noqa: F401  (registering is the point; the order decides who speaks first)
    accuracy_checker,
    eval_results,
    huggingface,
    huggingface_config,
    huggingface_generation,
    huggingface_tokenizer,
    model_card,
    open_model_zoo,
    timm,
    torchvision,
)
from mlmodelscope.author.importer.accuracy_checker import with_definitions
from mlmodelscope.author.importer.registry import IMPORTERS, REGISTRY, Context, Importer
from mlmodelscope.author.request import name_from
from mlmodelscope.errors import ManifestError, Problem
from mlmodelscope.model_file.model_file import ModelFile

__all__ = ["IMPORTERS", "REGISTRY", "Context", "Importer", "import_configs", "recognise"]


def recognise(config: ConfigFile) -> Importer:
    known = _first(IMPORTERS, config) or _first(REGISTRY.all(), config)
    if known is not None:
        return known
    keys = ", ".join(one_line(key)[:30] for key in list(config.data)[:8])
    raise ManifestError(
        Problem(
            f"it is no configuration of a kind that we know; its keys are {keys or 'none'}",
            file=str(config.path),
            known=tuple(f"{known.name} ({known.meaning})" for known in IMPORTERS.values()),
            hint=next((f"{problem.message}; {problem.hint}" for problem in REGISTRY.problems()), None),
        )
    )


def _first(importers: Mapping[str, Importer], config: ConfigFile) -> Importer | None:
    """Ours come before those of other packages: they were registered first."""
    for known in list(importers.values()):
        with REGISTRY.blaming(known.name):
            if known.recognise(config.data):
                return known
    return None


def _read(known: Importer, data: Mapping[str, Any], context: Context) -> Draft:
    with REGISTRY.blaming(known.name):
        draft = known.read(data, context)
        if not isinstance(draft, Draft):
            raise TypeError(f"it returns {str(draft)[:80]}, which is not a Draft")
        return draft


def import_configs(
    configs: list[ConfigFile], model: ModelFile | None, model_name: str | None = None, launcher: str | None = None
) -> Draft:
    """One draft of all files; processing comes from the first that speaks of it."""
    configs = with_definitions(configs)
    recognised = [(recognise(config), config) for config in configs]
    order = list(IMPORTERS)
    found = sorted(recognised, key=lambda pair: order.index(pair[0].name))
    context = Context("", model, model_name, launcher)
    result = Draft()
    for known, config in found:
        draft = _read(known, config.data, replace(context, file=config.name, path=config.path, so_far=result))
        result = joined(result, draft)
    for config in configs:
        folder = name_from(config.path.absolute().parent.name)
        result.learn("name", folder, "the name of the folder that the configuration lies in", guess=True)
    return result
