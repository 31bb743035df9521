"""What a task of lm-evaluation-harness asks a model for, and which of its numbers are measured here."""

from __future__ import annotations

from typing import Any

from mlmodelscope.manifest.dialect.lm_eval_filters import read_filters
from mlmodelscope.manifest.dialect.lm_eval_reading import Reading
from mlmodelscope.manifest.source import SourceFunction, SourceList, SourceMap

MEASURES = {
    "multiple_choice": {
        "acc": "choice-accuracy",
        "acc_norm": "choice-accuracy-characters",
        "acc_bytes": "choice-accuracy-bytes",
        "acc_mutual_info": "choice-accuracy-unconditional",
    },
    "loglikelihood": {"perplexity": "perplexity-text", "acc": "greedy-accuracy"},
    "loglikelihood_rolling": {
        "word_perplexity": "perplexity-word",
        "byte_perplexity": "perplexity-byte",
        "bits_per_byte": "bits-per-byte",
    },
    "generate_until": {"exact_match": "exact-match"},
    "translation": {"bleu": "bleu", "chrf": "chrf", "chrf++": "chrfpp", "ter": "ter"},
}
"""Their names of measures and ours, by the kind of request."""
_USUAL = {
    "multiple_choice": ("acc", "acc_norm"),
    "loglikelihood": ("perplexity", "acc"),
    "loglikelihood_rolling": ("word_perplexity", "byte_perplexity", "bits_per_byte"),
    "generate_until": ("exact_match",),
}
_LENGTHS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
_DEFAULT_LENGTH = 256


def read_scores(reading: Reading, kind: str, made: SourceMap, kept: SourceMap) -> SourceMap:
    """Put `measure`; the parameters of the last step are returned."""
    ask = SourceMap()
    ask.place = reading.place("generation_kwargs")
    translates = kind == "generate_until" and _is_translation(reading.data.get("metric_list"))
    names, exact = _metrics(reading, "translation" if translates else kind, kept)
    if "acc_mutual_info" in names:
        ask.put("unconditional", True, reading.place("metric_list"), "is what `acc_mutual_info` needs")
    filters, repeats = reading.take("filter_list"), reading.number("repeats") or 1
    if kind == "loglikelihood_rolling":
        ask.put("special", True, reading.place("output_type"), "is how the harness reads a text")
    if kind == "generate_until":
        _read_generation(reading, ask, repeats)
        measure = _translation(reading, made, names, filters) if translates else None
        measure = read_filters(reading, filters, exact, kept) if measure is None else measure
        if measure:
            made.put("measure", measure, reading.place("filter_list"))
    else:
        reading.take("generation_kwargs")
        if filters:
            reading.notes.add("unclear", "filters have nothing to do where nothing is written", ask.place)
    return ask


def _is_translation(listed: Any) -> bool:
    """Whether texts are compared as translations are: by sacrebleu's numbers, and by no match."""
    entries = listed if isinstance(listed, SourceList) else []
    names = {str(each.get("metric")) for each in entries if isinstance(each, SourceMap)}
    return bool(names & MEASURES["translation"].keys()) and "exact_match" not in names


def _translation(reading: Reading, made: SourceMap, names: list[str], filters: Any) -> SourceMap:
    """The task is another one; its answers are compared whole."""
    made.put("task", "translation", reading.place("metric_list"), "its measures are those of translations")
    for entry in filters if isinstance(filters, SourceList) else []:
        steps = entry.get("filter") if isinstance(entry, SourceMap) else None
        plain = [isinstance(each, SourceMap) and each.get("function") == "take_first" for each in steps or [None]]
        if not all(plain):
            reading.refuse("filter_list", "answers whose translation is compared are taken whole")
    measure = SourceMap()
    measure.place = reading.place("metric_list")
    if "ter" in names:
        measure.put("ter", True, measure.place)
    return measure


def _metrics(reading: Reading, kind: str, kept: SourceMap) -> tuple[list[str], SourceMap]:
    """Their measures that have a name here, which are kept with it, and the options of `exact_match`."""
    place, known = reading.place("metric_list"), MEASURES.get(kind, {})
    listed = reading.take("metric_list")
    exact, found, unknown = SourceMap(), SourceMap(), []
    exact.place = found.place = place
    entries = listed if isinstance(listed, SourceList) else []
    if listed is not None and (not entries or not all(isinstance(each, SourceMap) for each in entries)):
        reading.refuse("metric_list", "expected a list of measures, each with the key `metric`")
        entries = []
    for entry in entries if listed is not None else []:
        if not isinstance(entry, SourceMap):
            continue
        name, why = _judged(entry, known)
        if why:
            unknown.append((name, why))
            continue
        found.put(name, known[name], place)
        if name == "exact_match":
            exact = entry
    if listed is None:
        for name in _USUAL.get(kind, ()):
            found.put(name, known[name], place)
    for name, why in unknown:
        text = f"`{name[:60]}` {why}"
        if found:
            reading.notes.add("unclear", f"{text}, and is not measured here", place)
        else:
            reading.refuse("metric_list", text)
    if found:
        kept.put("metrics", found, place)
    return list(found), exact


def _judged(entry: SourceMap, known: dict[str, str]) -> tuple[str, str]:
    """(name of a measure, why it cannot be taken over)."""
    name = entry.get("metric")
    if isinstance(name, SourceFunction):
        return str(name), "is Python code"
    if isinstance(entry.get("aggregation"), SourceFunction):
        return str(name), "is summed up by Python code"
    if not isinstance(name, str) or name not in known:
        return str(name), "has no counterpart"
    if entry.get("hf_evaluate"):
        return name, "is taken from another package"
    usual = {"perplexity": "perplexity", "bits_per_byte": "bits_per_byte"}
    usual.update({each: each for each in MEASURES["translation"]})
    usual.update(dict.fromkeys(("word_perplexity", "byte_perplexity"), "weighted_perplexity"))
    summed = entry.get("aggregation")
    same = usual.get(name, "mean")
    if summed is not None and summed != same and not (summed == "nanmean" and same == "mean"):
        return name, f"is summed up in another way, `{str(summed)[:40]}`"
    return name, ""


def _read_generation(reading: Reading, ask: SourceMap, repeats: int) -> None:
    place = reading.place("generation_kwargs")
    options = reading.mapping("generation_kwargs")
    until = options.pop("until", None)
    if until is None:
        until = reading.separator
    stops = [until] if isinstance(until, str) else list(until) if isinstance(until, SourceList) else None
    if stops is None or not all(isinstance(each, str) for each in stops):
        reading.refuse("generation_kwargs.until", "expected texts that end an answer")
    elif any(stops):
        ask.put("stop", [each for each in stops if each], place)
    lengths = [options.pop(key, None) for key in _LENGTHS]
    longest = next((each for each in lengths if each is not None), _DEFAULT_LENGTH)
    if not isinstance(longest, int) or isinstance(longest, bool) or longest < 1:
        reading.refuse("generation_kwargs", "expected a number of tokens")
    else:
        ask.put("longest", int(longest), place)
    _read_draw(reading, ask, options, repeats)
    for key in options:
        reading.refuse(f"generation_kwargs.{key}", "has no word here")


def _read_draw(reading: Reading, ask: SourceMap, options: SourceMap, repeats: int) -> None:
    """Temperature and the like, where answers are drawn; else the likeliest token is taken each time."""
    place = reading.place("generation_kwargs")
    draws, temperature = options.pop("do_sample", None), options.pop("temperature", None)
    if str(draws).lower() in ("no", "off", "false"):
        draws = False
    limits = {key: options.pop(key, None) for key in ("top_p", "top_k")}
    if options.pop("num_beams", 1) != 1:
        reading.refuse("generation_kwargs.num_beams", "answers are not searched for with beams here")
    if temperature is not None and (isinstance(temperature, bool) or not isinstance(temperature, (int, float))):
        reading.refuse("generation_kwargs.temperature", "expected a number")
        return
    heat = float(temperature or 0.0)
    if draws is False or (draws is None and heat == 0.0):
        if repeats > 1:
            reading.notes.add("unclear", "answers that are not drawn are asked for once, as all are alike", place)
        ask.put("temperature", 0, place, "is what the harness does, whatever the model's own file of settings says")
        return
    if heat == 0.0:
        reading.refuse("generation_kwargs.temperature", "answers are drawn, and no temperature is given")
        return
    ask.put("temperature", heat, place)
    for key, value in limits.items():
        if value is not None and (not isinstance(value, (int, float)) or isinstance(value, bool)):
            reading.refuse(f"generation_kwargs.{key}", "expected a number")
        elif value is not None and not (key == "top_p" and value >= 1) and value > 0:
            ask.put(key, value, place)
    if repeats > 1:
        ask.put("repeats", repeats, place)
