"""A prompt on a terminal: every character as it is, with what cannot be seen spelled out, and its tokens."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from mlmodelscope.prompting import Prompt
from mlmodelscope.task.spelled import Context, Row, Words

_WIDTH = 100
_ESCAPED = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", '"': '\\"'}
_CALLS = {"choose": "how likely each choice is", "read": "how likely the text is", "write": "a text"}


def prompt_lines(prompt: Prompt) -> Iterator[str]:
    plan, found = prompt.plan, prompt.spelled
    yield f"# {plan.model.reference} on {plan.dataset.name}@{plan.dataset.version}, plan {plan.digest}"
    yield f"# sample {quoted(prompt.sample)}, {prompt.place + 1} of {prompt.samples}: asks {_CALLS[found.call]}"
    for number, context in enumerate(found.contexts):
        rows = [each for each in found.rows if each.context == number]
        yield ""
        yield f"context{_measured(context.words)}{_dropped(context)}"
        for turn in context.turns:
            yield f"  {quoted(turn.role)}:"
            yield from _text(turn.text, "    ")
        yield from _words(context.words, known_by_tokens=not context.turns)
        for row in rows:
            if found.call == "write":
                continue  # what comes next is the model's
            yield ""
            yield f"{_title(row, found.call)}{_measured(row.words)}"
            yield from _words(row.words)


def prompt_json(prompt: Prompt) -> dict[str, Any]:
    plan = prompt.plan
    about = {"model": plan.model.reference, "dataset": f"{plan.dataset.name}@{plan.dataset.version}"}
    rows = [] if prompt.spelled.call == "write" else prompt.plain["rows"]
    return {**about, "plan_digest": plan.digest, "sample": prompt.sample, **prompt.plain, "rows": rows}


def quoted(text: str) -> str:
    """Between quotation marks, with what a terminal would not show or would obey spelled out."""
    return f'"{"".join(map(_character, text))}"'


def _character(each: str) -> str:
    if each in _ESCAPED:
        return _ESCAPED[each]
    if each.isprintable():
        return each
    return f"\\u{ord(each):04x}" if ord(each) <= 0xFFFF else f"\\U{ord(each):08x}"


def _title(row: Row, call: str) -> str:
    if row.choice is not None:
        return f"choice {row.choice}{' without the question' if row.alone else ''}"
    return "text" if call == "read" else "continuation"


def _measured(words: Words) -> str:
    found = []
    if words.text is not None:
        found.append(f"{len(words.text.encode('utf-8', 'replace'))} bytes")
    if words.tokens is not None:
        found.append(f"{len(words.tokens)} token{'' if len(words.tokens) == 1 else 's'}")
    return f" ({', '.join(found)})" if found else ""


def _dropped(context: Context) -> str:
    return f", {context.dropped} tokens of which are dropped, since the model takes no more" if context.dropped else ""


def _words(words: Words, known_by_tokens: bool = True) -> Iterator[str]:
    if words.text is not None:
        yield from _text(words.text, "  ")
    if words.tokens is None:
        if known_by_tokens:
            yield "  tokens: made by the server, out of sight"
        return
    pieces = words.pieces or ("",) * len(words.tokens)
    spelled = [
        f"{number}\N{NO-BREAK SPACE}{_glued(quoted(piece))}" for number, piece in zip(words.tokens, pieces, strict=True)
    ]
    for line in textwrap.wrap(
        "  ".join(spelled), _WIDTH, initial_indent="  tokens: ", subsequent_indent="    ", break_long_words=False,
        break_on_hyphens=False,
    ):  # fmt: skip
        yield line.replace("\N{NO-BREAK SPACE}", " ").replace("\ue000", "\N{NO-BREAK SPACE}")


def _glued(text: str) -> str:
    """A piece stays on one line, whatever blanks are in it."""
    return text.replace("\N{NO-BREAK SPACE}", "\ue000").replace(" ", "\N{NO-BREAK SPACE}")


def _text(text: str, indent: str) -> Iterator[str]:
    """A line for each line of the text, its end spelled out."""
    for line in text.splitlines(keepends=True) or [""]:
        yield indent + quoted(line)
