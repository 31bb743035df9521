"""How a task of lm-evaluation-harness words questions, answers and examples: the parameters of the step `prompt`."""

from __future__ import annotations

import json
import re
from typing import Any

from mlmodelscope.manifest.dialect.lm_eval_data import Pool
from mlmodelscope.manifest.dialect.lm_eval_reading import Reading
from mlmodelscope.manifest.source import SourceList, SourceMap

_NUMBERS = ("label", "gold", "gold_index", "answer_index", "answer_idx", "correct", "correct_idx", "target")
"""Fields that hold the number of a right choice, where a question is said to be one of them."""
_MARKUP = re.compile(r"\{[{%#]")
_SAMPLERS = {"default": "sample", "first_n": "first"}


def read_prompt(reading: Reading, kind: str, pool: Pool) -> SourceMap:
    made = SourceMap()
    made.place = reading.data.place
    choices = reading.take("doc_to_choice")
    text, target = reading.take("doc_to_text"), reading.take("doc_to_target")
    listed = _choices(reading, "doc_to_choice", choices)
    varies = kind == "multiple_choice" and _is_number(text)
    question = "" if kind == "loglikelihood_rolling" else _question(reading, "doc_to_text", text)
    if question:
        made.put("question", question, reading.place("doc_to_text"))
    if listed is not None and kind == "multiple_choice":
        made.put("choices", listed, reading.place("doc_to_choice"))
    elif kind == "multiple_choice":
        reading.refuse("doc_to_choice", "it does not say what there is to choose from")
    if varies:
        made.put("varies", "question", reading.place("doc_to_text"), "the text is the number of a choice")
    answer = _answer(reading, "doc_to_target", target, listed is not None)
    if answer is not None and listed is not None and kind == "generate_until":
        answer = _spelled_choice(reading, choices, answer)
    if answer is None:
        reading.refuse("doc_to_target", "it does not say what is right")
    else:
        made.put("answer", answer, reading.place("doc_to_target"))
    _read_delimiters(reading, made, kind, pool, listed is not None)
    return made


def _read_delimiters(reading: Reading, made: SourceMap, kind: str, pool: Pool, has_choices: bool) -> None:
    between = reading.text("target_delimiter")
    between = " " if between is None else between
    reading.text("fewshot_delimiter")
    separator = reading.separator
    description = reading.text("description")
    count = reading.number("num_fewshot") or 0
    if kind == "loglikelihood_rolling":
        if count or description:
            reading.notes.add("unclear", "texts that are read whole have no examples before them", reading.data.place)
        return
    own = between if kind != "loglikelihood" else ""
    if own != " ":
        made.put("delimiter", own, reading.place("target_delimiter"))
    if separator != "\n\n":
        made.put("separator", separator, reading.place("fewshot_delimiter"))
    if description:
        made.put("description", description, reading.place("description"))
    _read_shots(reading, made, pool, count, (own, between, separator, has_choices))


def _read_shots(reading: Reading, made: SourceMap, pool: Pool, count: int, told: tuple[str, str, str, bool]) -> None:
    own, between, separator, has_choices = told
    fewshot, place = pool.fewshot, reading.place("fewshot_config")
    sampler = str(fewshot.pop("sampler", None) or "default")
    if sampler not in _SAMPLERS:
        reading.refuse("fewshot_config.sampler", f"`{sampler[:60]}` is none of {', '.join(_SAMPLERS)}")
    between = _own(reading, fewshot, "target_delimiter", between)
    if _own(reading, fewshot, "fewshot_delimiter", separator) != separator:
        reading.refuse("fewshot_config.fewshot_delimiter", "examples have the delimiter of the task here")
    own_words = {
        "shots_question": _question(reading, "fewshot_config.doc_to_text", fewshot.pop("doc_to_text", None)),
        "shots_answer": _answer(
            reading, "fewshot_config.doc_to_target", fewshot.pop("doc_to_target", None), has_choices
        ),
        "shots_choices": _choices(reading, "fewshot_config.doc_to_choice", fewshot.pop("doc_to_choice", None)),
    }
    if fewshot.pop("fewshot_indices", None) is not None:
        reading.notes.add("unclear", "`fewshot_indices` chooses no examples in the harness either", place)
    for key in fewshot:
        if fewshot[key] is not None:
            reading.refuse(f"fewshot_config.{key}", "has no word here")
    if count and pool.file is None and pool.documents is None:
        reading.refuse("num_fewshot", "it does not say where examples come from")
    if pool.file is None and pool.documents is None:
        return
    if count:
        made.put("shots", count, reading.place("num_fewshot"))
    if pool.file is not None:
        made.put("shots_file", pool.file, place)
    elif _are_documents(reading, pool.documents):
        made.put("shots_documents", pool.documents, place)
    if _SAMPLERS.get(sampler) == "first":
        made.put("pick", "first", place)
    if pool.same:
        made.put("same", True, place)
    if between != own:
        made.put("shots_delimiter", between, place)
    for key, value in own_words.items():
        if value is not None and value != made.get(key.removeprefix("shots_")):
            made.put(key, value, place)


def _are_documents(reading: Reading, documents: Any) -> bool:
    listed = isinstance(documents, SourceList) and documents and all(isinstance(each, SourceMap) for each in documents)
    if not listed:
        reading.refuse("fewshot_config.samples", "expected a list of documents")
    return bool(listed)


def _own(reading: Reading, fewshot: SourceMap, key: str, otherwise: str) -> str:
    value = fewshot.pop(key, None)
    if value is not None and not isinstance(value, str):
        reading.refuse(f"fewshot_config.{key}", "expected a text")
    return value if isinstance(value, str) else otherwise


def _is_number(text: Any) -> bool:
    """Whether a question is the number of a choice, and the choices are the questions."""
    if isinstance(text, int) and not isinstance(text, bool):
        return True
    if not isinstance(text, str):
        return False
    bare = re.fullmatch(r"\s*\{\{\s*(\w+)\s*\}\}\s*", text)
    return text.isdigit() or (bare.group(1) if bare else text) in _NUMBERS


def _expression(text: str) -> str:
    return "{{" + text + "}}"


def _question(reading: Reading, key: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value if value is None or not value.isdigit() else _expression(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return _expression(str(int(value)))
    reading.refuse(key, "expected a template or the name of a field")
    return None


def _answer(reading: Reading, key: str, value: Any, has_choices: bool) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int, SourceList)):
        reading.refuse(key, "expected a template, the name of a field, a number or a list")
        return None
    if isinstance(value, SourceList):
        return _expression(_literal(reading, key, value))
    if isinstance(value, int):
        return _expression(str(int(value)))
    return _expression(value) if value.isdigit() and has_choices else value


def _choices(reading: Reading, key: str, value: Any) -> Any:
    """Templates, each of a choice, or one for all. Lists of the harness are words and no templates."""
    if isinstance(value, SourceMap):
        items = SourceList()
        items.place = value.place
        for each in value.values():
            items.put(each, value.place)
        value = items
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, SourceList) or not value:
        reading.refuse(key, "expected a template, the name of a field or a list")
        return None
    if not all(isinstance(each, str) for each in value):
        reading.refuse(key, "choices that are no texts have no length, and the harness fails on them")
        return None
    if len(value) == 1 or any(_MARKUP.search(each) for each in value):
        return _expression(_literal(reading, key, value))
    return value


def _literal(reading: Reading, key: str, values: Any) -> str:
    """A list as a template's expression spells it."""
    if not all(isinstance(each, (str, int)) and not isinstance(each, bool) for each in values):
        reading.refuse(key, "expected texts and numbers")
        return "[]"
    return json.dumps([str(each) if isinstance(each, str) else int(each) for each in values], ensure_ascii=False)


def _spelled_choice(reading: Reading, choices: Any, answer: str) -> str | None:
    """The right choice in words, where an answer is written and not chosen."""
    inner = re.fullmatch(r"\s*\{\{((?:(?!\}\}|\{\{).)*)\}\}\s*", answer, re.DOTALL)
    expression = inner.group(1).strip() if inner else answer
    is_field = re.fullmatch(r"[A-Za-z_]\w*", expression)
    if isinstance(choices, SourceMap):
        listed = "[]" if not choices else _literal(reading, "doc_to_choice", list(choices.values()))
    elif isinstance(choices, SourceList):
        listed = _literal(reading, "doc_to_choice", choices)
    else:
        listed = str(choices).strip()
        bare = re.fullmatch(r"\{\{((?:(?!\}\}|\{\{).)*)\}\}", listed, re.DOTALL)
        listed = f"({bare.group(1).strip()})" if bare else listed
        if not bare and not re.fullmatch(r"[A-Za-z_]\w*", listed):
            inner = is_field = None
    if inner is None and is_field is None:
        reading.refuse("doc_to_target", "which of the choices has to be written cannot be expressed")
        return None
    return _expression(f"{listed}[({expression}) | int]")
