"""Hugging Face: `generation_config.json`, how `generate` of transformers writes unless it is told otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.author.draft import Draft, Fact
from mlmodelscope.author.fields import Fields
from mlmodelscope.author.importer.registry import Context, importer

_SECTION = "generation_config"
_ONLY_HERE = ("_from_model_config", "do_sample", "max_new_tokens", "eos_token_id", "repetition_penalty")
_NO_ANSWER = (
    "_from_model_config",
    "transformers_version",
    "use_cache",
    "output_attentions",
    "output_hidden_states",
    "output_scores",
    "output_logits",
    "return_dict_in_generate",
    "return_dict",
    "cache_implementation",
)
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "num_beams": (1,),
    "num_beam_groups": (1,),
    "num_return_sequences": (1,),
    "repetition_penalty": (1, 1.0),
    "encoder_repetition_penalty": (1, 1.0),
    "no_repeat_ngram_size": (0,),
    "encoder_no_repeat_ngram_size": (0,),
    "diversity_penalty": (0, 0.0),
    "length_penalty": (1, 1.0),
    "typical_p": (1, 1.0),
    "min_p": (0, 0.0),
    "epsilon_cutoff": (0, 0.0),
    "eta_cutoff": (0, 0.0),
    "early_stopping": (False,),
    "min_length": (0,),
    "guidance_scale": (1, 1.0),
    "renormalize_logits": (False,),
    "remove_invalid_values": (False,),
}
"""Settings with the value that changes nothing."""
_NUMBERS = ("bos_token_id", "pad_token_id", "decoder_start_token_id")
_TOP_K = 50
_MOST_TOKENS = 1_000_000


def _recognise(data: Mapping[str, Any]) -> bool:
    others = {"architectures", "model_type", "tokenizer_class", "pretrained_cfg", "models", "launchers"}
    return any(key in data for key in _ONLY_HERE) and not others & set(data)


@importer("huggingface_generation", _recognise)
def read(data: Mapping[str, Any], context: Context) -> Draft:
    """Hugging Face's generation_config.json"""
    fields, draft = Fields(data, context.file), Draft()
    fields.ignore(*_NO_ANSWER)
    longest = fields.whole("max_new_tokens", _MOST_TOKENS)
    if longest:
        draft.writing["longest"] = Fact(longest, "max_new_tokens")
    most = fields.whole("max_length", _MOST_TOKENS)
    if most is not None:
        why = "it counts the prompt as well; `ask: {longest: …}` counts what is written"
        draft.keep(_SECTION, "max_length", most, why)
    _draws(draft, fields)
    _ends(draft, fields)
    for key, neutral in _NEUTRAL.items():
        value = fields.any(key)
        if value is not None and value not in neutral:
            draft.keep(_SECTION, key, value, "it changes what is written, and cannot be expressed")
    numbers = {key: fields.any(key) for key in _NUMBERS if key in data}
    if numbers:
        draft.attributes.setdefault(_SECTION, {}).update(numbers)
    for key, value in fields.rest().items():
        draft.keep(_SECTION, key, value)
    return draft


def _draws(draft: Draft, fields: Fields) -> None:
    """Temperature and the like, which count only where answers are drawn."""
    limits = {key: fields.number(key) for key in ("temperature", "top_p", "top_k")}
    if not fields.flag("do_sample"):
        why = "do_sample: false" if "do_sample" in fields else "do_sample is not given: the likeliest token is taken"
        draft.writing["temperature"] = Fact(0, why)
        for key, value in limits.items():
            if value is not None:
                draft.keep(_SECTION, key, value, "it counts only with do_sample: true, which the file does not say")
        return
    heat, share, count = limits["temperature"], limits["top_p"], limits["top_k"]
    if heat is not None and not 0 < heat <= 100:
        fields.refuse("temperature", "a number above 0")
    draft.writing["temperature"] = Fact(
        1 if heat is None else heat, "do_sample: true" if heat is None else "temperature"
    )
    if count is None:
        draft.writing["top_k"] = Fact(_TOP_K, "transformers' default")
    elif count > 0:
        draft.writing["top_k"] = Fact(fields.whole("top_k", _MOST_TOKENS), "top_k")
    if share is not None and not 0 < share <= 1:
        fields.refuse("top_p", "a share above 0 and up to 1")
    if share is not None and share < 1:
        draft.writing["top_p"] = Fact(share, "top_p")


def _ends(draft: Draft, fields: Fields) -> None:
    ends = fields.any("eos_token_id")
    listed = list(ends) if isinstance(ends, list | tuple) else [] if ends is None else [ends]
    for each in listed:
        if isinstance(each, bool) or not isinstance(each, int) or not 0 <= each < 2**31:
            fields.refuse("eos_token_id", "a number of a token, or several")
    if len(listed) > 64:
        fields.refuse("eos_token_id", "at most 64 tokens")
    if listed:
        draft.writing["stop_tokens"] = Fact([int(each) for each in listed], "eos_token_id")
    stops = fields.any("stop_strings")
    texts = [stops] if isinstance(stops, str) else list(stops) if isinstance(stops, list | tuple) else []
    if stops is not None and (len(texts) > 64 or not all(isinstance(each, str) and each for each in texts)):
        fields.refuse("stop_strings", "texts that end an answer, at most 64")
    if texts:
        draft.writing["stop"] = Fact(texts, "stop_strings")
