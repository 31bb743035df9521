"""A folder of a causal language model, as `transformers` saves it: weights, configuration, tokenizer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mlmodelscope.author.draft import Draft, DraftStep, Fact, one_line
from mlmodelscope.author.from_model import relative_reference
from mlmodelscope.author.request import name_from
from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.schema.task import LANGUAGE_MODEL

_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
_PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model")


def add_language_model(draft: Draft, paths: Iterable[Path], output: Path | None) -> None:
    """Make the draft one of a model that runs, where one of the paths is a folder that has its weights."""
    if draft.get("task") != "text_generation":
        return
    for folder in paths:
        if not (folder.is_dir() and (folder / "config.json").is_file()):
            continue
        if any((folder / name).is_file() for name in _WEIGHTS):
            _add(draft, folder, output)
            return
        if any((folder / name).is_file() for name in _PICKLES):
            raise UsageError(
                f"the weights in {folder} are pickles, which run code when they are opened, so they are not used",
                hint="save them as safetensors: model.save_pretrained(FOLDER, safe_serialization=True) writes them",
            )


def _add(draft: Draft, folder: Path, output: Path | None) -> None:
    because = draft.facts["task"].because
    draft.facts["task"] = Fact(LANGUAGE_MODEL, because)
    draft.facts["framework.name"] = Fact("transformers", "the folder is as transformers saves it")
    draft.facts["source.graph_path"] = Fact(relative_reference(folder, output), "the folder that was given")
    draft.notes.append("the checksum of a folder is left out; it is computed when the model is planned")
    named = name_from(folder.absolute().name)
    if named and draft.facts.get("name") is not None and draft.facts["name"].guess:
        draft.facts["name"] = Fact(named, "the folder's name", guess=True)
    draft.outputs = []
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        draft.notes.append(
            one_line(f"the folder has no tokenizer ({', '.join(_TOKENIZERS)}): `encode_prompt` needs a `library`")
        )
    if draft.prompt is None:
        why = "no tokenizer_config.json says which special tokens are added; the tokenizer itself decides"
        draft.prompt = [DraftStep("encode_prompt", {"special_tokens": "once"}, why, guess=True)]
