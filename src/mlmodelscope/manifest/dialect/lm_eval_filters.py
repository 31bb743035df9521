"""Filters of lm-evaluation-harness: which part of a written answer counts, as the steps of `measure: {extract: …}`."""

from __future__ import annotations

from typing import Any

from mlmodelscope.manifest.dialect.lm_eval_reading import Reading
from mlmodelscope.manifest.source import SourceFunction, SourceList, SourceMap

_NUMBER = r"#### (\-?[0-9\.\,]+)"
"""What the harness looks for where a filter gives no expression."""
_INVALID = "[invalid]"
_PLAIN = {"take_first": None, "take_first_k": None, "remove_whitespace": "strip", "lowercase": "lowercase"}
_IGNORED = (("ignore_case", "lowercase"), ("ignore_punctuation", "remove_ascii_punctuation"))


def read_filters(reading: Reading, filters: Any, exact: SourceMap, kept: SourceMap) -> SourceMap:
    """The options of the task: the first list of filters that has words here, and what `exact_match` ignores."""
    place = reading.place("filter_list")
    measure = SourceMap()
    measure.place = place
    found, failed = _usable(reading, filters)
    for name, why in failed:
        text = f"the filter `{name[:60]}` cannot be expressed: {why}"
        if found or filters is None:
            reading.notes.add("unclear", f"{text}; its numbers are not measured here", place)
        else:
            reading.refuse("filter_list", text)
    if found:
        name = next(iter(found))
        steps = list(found[name])
        if "vote" in steps:
            steps.remove("vote")
            measure.put("vote", True, place)
        if steps:
            measure.put("extract", steps, place, f"is the filter `{name[:60]}`")
        if len(found) > 1:
            others = ", ".join(list(found)[1:])
            reading.notes.add(
                "unclear",
                f"of several filters the first is applied, `{name[:60]}`; {others[:200]} are kept under `attributes`",
                place,
            )
            kept.put("filters", {each: list(told) for each, told in found.items()}, place)
    normalization = _normalization(reading, exact)
    if normalization:
        measure.put("normalization", normalization, reading.place("metric_list"), "is what `exact_match` ignores")
    return measure


def _usable(reading: Reading, filters: Any) -> tuple[dict[str, list[Any]], list[tuple[str, str]]]:
    found: dict[str, list[Any]] = {}
    failed = []
    for number, entry in enumerate(filters if isinstance(filters, SourceList) else []):
        name = str(entry.get("name") or number) if isinstance(entry, SourceMap) else str(number)
        steps = entry.get("filter") if isinstance(entry, SourceMap) else None
        try:
            found[name] = [each for step in _listed(steps) for each in _step(step)]
        except ValueError as error:
            failed.append((name, str(error)))
    if filters is not None and not isinstance(filters, SourceList):
        reading.refuse("filter_list", "expected a list of filters")
    return found, failed


def _listed(steps: Any) -> list[SourceMap]:
    if not isinstance(steps, SourceList) or not all(isinstance(each, SourceMap) for each in steps):
        raise ValueError("it has no list of functions")
    return list(steps)


def _step(step: SourceMap) -> list[Any]:
    name = step.get("function")
    if isinstance(name, SourceFunction) or any(isinstance(each, SourceFunction) for each in step.values()):
        raise ValueError("it is Python code, which is never run")
    if name == "majority_vote":
        return ["vote"]
    if name in _PLAIN:
        plain = _PLAIN[str(name)]
        return [plain] if plain else []
    if name != "regex":
        raise ValueError(f"`{str(name)[:60]}` has no counterpart")
    unknown = [key for key in step if key not in ("function", "regex_pattern", "group_select", "fallback")]
    if unknown:
        raise ValueError(f"`{unknown[0][:60]}` of an expression has no counterpart")
    pattern, take, fallback = step.get("regex_pattern", _NUMBER), step.get("group_select", 0), step.get("fallback")
    fallback = _INVALID if fallback is None else fallback
    if not isinstance(pattern, str) or not isinstance(take, int) or not isinstance(fallback, str):
        raise ValueError("its expression is not a text")
    told: dict[str, Any] = {"pattern": pattern}
    if take:
        told["take"] = int(take)
    return [{"regex": {**told, "fallback": fallback}}]


def _normalization(reading: Reading, exact: SourceMap) -> list[Any]:
    """What is done to an answer and to the reference before they are compared, in the harness's order."""
    patterns = exact.get("regexes_to_ignore")
    steps: list[Any] = []
    for each in patterns if isinstance(patterns, SourceList) else [] if patterns is None else [patterns]:
        if isinstance(each, str) and each:
            steps.append({"remove": each})
        else:
            reading.refuse("metric_list", "`regexes_to_ignore` are expressions, as texts")
    steps += [word for key, word in _IGNORED if exact.get(key) is True]
    if exact.get("ignore_numbers") is True:
        steps.append("remove_digits")
    known = ("metric", "aggregation", "higher_is_better", "regexes_to_ignore", "ignore_case", "ignore_punctuation")
    for key in exact:
        if key not in (*known, "ignore_numbers", "hf_evaluate", "high_is_better"):
            reading.refuse("metric_list", f"`{key[:60]}` of `exact_match` has no counterpart")
    return steps
