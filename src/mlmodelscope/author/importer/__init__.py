"""Configurations that others write beside their models. Importing this package registers every importer."""

from __future__ import annotations

from dataclasses import replace

from mlmodelscope.author.config_file import ConfigFile
from mlmodelscope.author.draft import Draft, joined, one_line
from mlmodelscope.author.importer import (  # noqa: F401  (registering is the point; the order decides who speaks first)
    accuracy_checker,
    huggingface,
    huggingface_config,
    open_model_zoo,
    timm,
    torchvision,
)
from mlmodelscope.author.importer.accuracy_checker import with_definitions
from mlmodelscope.author.importer.registry import IMPORTERS, Context, Importer
from mlmodelscope.author.request import name_from
from mlmodelscope.errors import ManifestError, Problem
from mlmodelscope.model_file.model_file import ModelFile

__all__ = ["IMPORTERS", "Context", "Importer", "import_configs", "recognise"]


def recognise(config: ConfigFile) -> Importer:
    for known in IMPORTERS.values():
        if known.recognise(config.data):
            return known
    keys = ", ".join(one_line(key)[:30] for key in list(config.data)[:8])
    raise ManifestError(
        Problem(
            f"it is no configuration of a kind that we know; its keys are {keys or 'none'}",
            file=str(config.path),
            known=tuple(f"{known.name} ({known.meaning})" for known in IMPORTERS.values()),
        )
    )


def import_configs(
    configs: list[ConfigFile], model: ModelFile | None, model_name: str | None = None, launcher: str | None = None
) -> Draft:
    """One draft of all files; processing comes from the first that speaks of it."""
    configs = with_definitions(configs)
    order = list(IMPORTERS.values())
    found = sorted(((recognise(config), config) for config in configs), key=lambda pair: order.index(pair[0]))
    context = Context("", model, model_name, launcher)
    result = Draft()
    for known, config in found:
        draft = known.read(config.data, replace(context, file=config.name, so_far=result))
        result = joined(result, draft)
    for config in configs:
        folder = name_from(config.path.absolute().parent.name)
        result.learn("name", folder, "the name of the folder that the configuration lies in", guess=True)
    return result
