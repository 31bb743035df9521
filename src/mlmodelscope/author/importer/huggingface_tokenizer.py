"""Hugging Face: `tokenizer_config.json` and `chat_template.jinja`, how a prompt becomes turns and tokens.

What the template does with turns is the template's; here it is only named as the file of the step `chat`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.author.config_file import TEMPLATE
from mlmodelscope.author.draft import Draft, DraftStep, one_line
from mlmodelscope.author.fields import Fields
from mlmodelscope.author.importer.registry import Context, importer
from mlmodelscope.model_file.limit import clean

_SECTION = "tokenizer_config"
_TEMPLATE_FILE = "chat_template"
_KEYS = ("tokenizer_class", "chat_template", "added_tokens_decoder", "model_max_length", "add_bos_token")
_NO_LIMIT = 10**9
"""Files say 10^30 where a tokenizer has no limit."""
# How tokens are spelled, which the tokenizer's own file says as well, and settings of training.
_SPELLING = (
    "added_tokens_decoder",
    "additional_special_tokens",
    "extra_special_tokens",
    "auto_map",
    "backend",
    "fast_tokenizer_files",
    "is_local",
    "legacy",
    "local_files_only",
    "model_input_names",
    "name_or_path",
    "processor_class",
    "special_tokens_map_file",
    "tokenizer_class",
    "tokenizer_file",
    "use_default_system_prompt",
    "use_fast",
)
_WHY_CHAT = "the model has a template for chats; for numbers that were measured without one take this step away"


def _is_template(data: Mapping[str, Any]) -> bool:
    return set(data) == {TEMPLATE}


def _recognise(data: Mapping[str, Any]) -> bool:
    return any(key in data for key in _KEYS) and not {"architectures", "model_type"} & set(data)


@importer("huggingface_template", _is_template)
def read_template(data: Mapping[str, Any], context: Context) -> Draft:
    """Hugging Face's chat_template.jinja"""
    draft = Draft()
    if context.path is not None and str(data[TEMPLATE]).strip():
        draft.files[_TEMPLATE_FILE] = context.path
        draft.prompt = [DraftStep("chat", {"file": _TEMPLATE_FILE}, _WHY_CHAT, guess=True), _encoding(None)]
    return draft


@importer("huggingface_tokenizer", _recognise)
def read(data: Mapping[str, Any], context: Context) -> Draft:
    """Hugging Face's tokenizer_config.json"""
    fields, draft = Fields(data, context.file), Draft()
    fields.ignore(*_SPELLING)
    steps: list[DraftStep] = []
    known = context.so_far.files if context.so_far is not None else {}
    has_template = _has_template(draft, fields)
    if _TEMPLATE_FILE in known:
        steps.append(DraftStep("chat", {"file": _TEMPLATE_FILE, "tokens": _SECTION}, _WHY_CHAT, guess=True))
        if has_template:
            draft.notes.append(f"{context.file} has a template as well; transformers takes the file of its own")
    elif has_template:
        steps.append(DraftStep("chat", {"file": _SECTION}, _WHY_CHAT, guess=True))
    if steps and context.path is not None:
        draft.files[_SECTION] = context.path
    draft.prompt = [*steps, _encoding(fields.flag("add_bos_token"))]
    if fields.flag("add_eos_token"):
        draft.notes.append("add_eos_token: the tokenizer ends every prompt with the token for the end of a text")
    _limits(draft, fields)
    tokens = {name: _token(fields.any(name)) for name in data if name.endswith("_token")}
    kept = {name: token for name, token in tokens.items() if token}
    if kept:
        draft.attributes.setdefault(_SECTION, {}).update(kept)
    for key, value in fields.rest().items():
        draft.keep(_SECTION, key, value)
    return draft


def _has_template(draft: Draft, fields: Fields) -> bool:
    """Whether there is one that the step `chat` takes: a text, or the one called `default` of several."""
    found = fields.any("chat_template")
    if isinstance(found, str):
        return bool(found.strip())
    if found is None:
        return False
    names = [clean(str(each.text("name") or ""))[:60] for each in fields.each("chat_template")]
    others = [name for name in names if name != "default"]
    if others:
        draft.unknown.append(one_line(f"{_SECTION}.chat_template: the templates {', '.join(others)} are not used"))
    return "default" in names


def _encoding(adds_first: bool | None) -> DraftStep:
    why = "special tokens are added as the tokenizer itself does"
    if adds_first is not None:
        why = f"add_bos_token: {str(adds_first).lower()}; the tokenizer follows it"
    return DraftStep("encode_prompt", {"special_tokens": "once"}, why)


def _limits(draft: Draft, fields: Fields) -> None:
    most = fields.any("model_max_length")
    is_limit = isinstance(most, int | float) and not isinstance(most, bool) and 0 < most < _NO_LIMIT
    if is_limit:
        why = "the model's config.json decides how many tokens it takes; write `encode_prompt: {longest: …}` for this"
        draft.keep(_SECTION, "model_max_length", most, why)
    if fields.word("truncation_side") == "right":
        draft.keep(_SECTION, "truncation_side", "right", "prompts are cut on the left; `encode_prompt: {cut: right}`")
    fields.ignore("padding_side")  # rows are filled up where the engine does, which no answer depends on
    if fields.flag("clean_up_tokenization_spaces"):
        why = "blanks before punctuation stay as the model wrote them"
        draft.keep(_SECTION, "clean_up_tokenization_spaces", True, why)


def _token(value: Any) -> str | None:
    """A special token's text, which newer files wrap up."""
    text = value.get("content") if isinstance(value, Mapping) else value
    return clean(text) if isinstance(text, str) else None
