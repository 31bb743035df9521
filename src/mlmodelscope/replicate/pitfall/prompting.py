"""What a language model is shown of a document: its wording, examples, turns of a chat, what stands between."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import Edits, changed, find, pitfall, step, steps_of, with_steps

DOCUMENT = ("document",)
_SHOTS = (0, 5, 1, 3, 2, 4)
_MORE_SHOTS = (8, 10, 25)
"""As common, and each takes as long as several evaluations: tried where fewer come near."""
_SEEDS = (0, 42, 1, 1234)
_SEPARATORS = {"\n\n": "an empty line", "\n": "a new line", " ": "a blank"}
_ASKED = {
    "a bare question": ("", ""),
    "`Question: …` and `Answer:`": ("Question: ", "\nAnswer:"),
    "`Q: …` and `A:`": ("Q: ", "\nA:"),
}
_BEFORE = re.compile(r"^(?:Question|Q):\s*")
_BEHIND = re.compile(r"\s*(?:Answer|A):\s*$")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_FIELD = re.compile(r"^\{\{\s*(.+?)\s*\}\}$", re.DOTALL)
_SYSTEM = "You are a helpful assistant."


def with_parameters(plan: Plan, name: str, **parameters: object) -> Iterator[Plan]:
    """The plan with other parameters in its step of this name; None stands for a parameter's default."""
    at = find(plan, name)
    if at is None:
        return
    steps, new = list(steps_of(plan)), _changed(steps_of(plan)[at], **parameters)
    if new is not None:
        steps[at] = new
        yield with_steps(plan, steps)


def _changed(old: Step, **parameters: object) -> Step | None:
    gone = {name for name, value in parameters.items() if value is None}
    kept = old.model_copy(update={"parameters": {k: v for k, v in old.parameters.items() if k not in gone}})
    return changed(kept, **{name: value for name, value in parameters.items() if value is not None})


def parameter(plan: Plan, name: str, key: str) -> object:
    """What a plan's step of this name has; None where there is no such step."""
    at = find(plan, name)
    return None if at is None else steps_of(plan)[at].parameters.get(key)


def has_both(plan: Plan) -> bool:
    """Whether an answer follows a question: a text alone has none, and written answers are shown in examples only."""
    if find(plan, "write") is not None:
        return bool(parameter(plan, "prompt", "shots"))
    return find(plan, "choose") is not None or bool(parameter(plan, "prompt", "question"))


def _more_shots(plan: Plan) -> Edits:
    now = parameter(plan, "prompt", "shots")
    for count in _MORE_SHOTS if isinstance(now, int) and now >= max(_SHOTS) else ():
        if count != now:
            for edited in with_parameters(plan, "prompt", shots=count):
                yield f"{count} examples", edited


@pitfall("shot-count", "Number of examples", finer=_more_shots, is_ranked=True, parts=DOCUMENT)
def shot_count(plan: Plan) -> Edits:
    """Papers show a model some solved examples before the question, and seldom the same number of them."""
    if find(plan, "prompt") is None:
        return
    file = parameter(plan, "prompt", "shots_file") or next(iter(plan.dataset.files), None)
    for count in _SHOTS:
        if count != parameter(plan, "prompt", "shots") and (file is not None or not count):
            words = "no examples" if not count else f"{count} example{'s' if count > 1 else ''}"
            for edited in with_parameters(plan, "prompt", shots=count, shots_file=file):
                yield words, edited


@pitfall("shot-choice", "Which examples", weight=0.5, parts=DOCUMENT)
def shot_choice(plan: Plan) -> Edits:
    """Examples are drawn with another seed, or the first ones of the file are taken."""
    if not parameter(plan, "prompt", "shots"):
        return
    other = "first" if parameter(plan, "prompt", "pick") == "sample" else "sample"
    words = "the first examples of the file" if other == "first" else "examples drawn for each question"
    for edited in with_parameters(plan, "prompt", pick=other):
        yield words, edited
    for seed in _SEEDS if other == "first" else ():
        if seed != parameter(plan, "prompt", "seed"):
            for edited in with_parameters(plan, "prompt", seed=seed):
                yield f"examples drawn with the seed {seed}", edited
    is_same = parameter(plan, "prompt", "same")
    for edited in with_parameters(plan, "prompt", same=not is_same):
        yield "a document may be its own example" if is_same else "no document is its own example", edited


@pitfall("shot-order", "Order of the examples", weight=0.3, parts=DOCUMENT)
def shot_order(plan: Plan) -> Edits:
    """The same examples come in another order: the one that is next to the question counts most."""
    shots, now = parameter(plan, "prompt", "shots"), parameter(plan, "prompt", "order")
    if isinstance(shots, int) and shots > 1:
        other = "drawn" if now == "reversed" else "reversed"
        for edited in with_parameters(plan, "prompt", order=other):
            yield "the last example first" if other == "reversed" else "examples in the order of the draw", edited


@pitfall("shot-separator", "What stands between examples", weight=0.3, is_ranked=True, parts=DOCUMENT)
def shot_separator(plan: Plan) -> Edits:
    """Examples are parted by an empty line, or by a line's end alone."""
    if parameter(plan, "prompt", "shots") or parameter(plan, "prompt", "description"):
        for text, told in _SEPARATORS.items():
            if text != parameter(plan, "prompt", "separator"):
                for edited in with_parameters(plan, "prompt", separator=text):
                    yield f"{told} between examples", edited


@pitfall("shot-turns", "Examples as turns", weight=0.5, parts=DOCUMENT)
def shot_turns(plan: Plan) -> Edits:
    """In a chat each example is a turn of its own, or all stand in one turn with the question."""
    if parameter(plan, "prompt", "shots"):
        other = "turns" if parameter(plan, "chat", "examples") == "text" else "text"
        for edited in with_parameters(plan, "chat", examples=other):
            yield "each example a turn" if other == "turns" else "all examples in one turn", edited


@pitfall("chat-template", "Chat template", is_ranked=True, parts=DOCUMENT)
def chat_template(plan: Plan) -> Edits:
    """A model that was trained on chats gets plain text, or the other way round."""
    steps, at, first = steps_of(plan), find(plan, "chat"), find(plan, "prompt")
    if at is not None:
        yield "plain text, no chat", with_steps(plan, (*steps[:at], *steps[at + 1 :]))
        is_opened = parameter(plan, "chat", "opened")
        for edited in with_parameters(plan, "chat", opened=not is_opened):
            yield "the answer's turn not opened" if is_opened else "the answer's turn opened", edited
    for name in plan.model.files:
        if first is None or (at is not None and name == parameter(plan, "chat", "file")) or not _may_be_chat(name):
            continue
        if at is not None:
            for edited in with_parameters(plan, "chat", file=name):
                yield f"turns of a chat by the file {name}", edited
        else:
            made = step("chat", file=name)
            yield (
                f"turns of a chat by the file {name}",
                with_steps(plan, (*steps[: first + 1], made, *steps[first + 1 :])),
            )


def _may_be_chat(name: str) -> bool:
    return any(each in name.lower() for each in ("chat", "template", "config"))


@pitfall("system-prompt", "System prompt", weight=0.5, parts=DOCUMENT)
def system_prompt(plan: Plan) -> Edits:
    """What the system says first of all, or what describes the task, is there or is not."""
    in_chat = parameter(plan, "chat", "system")
    if find(plan, "chat") is not None:
        now = parameter(plan, "prompt", "system") if in_chat is None else in_chat
        for text in ("", _SYSTEM):
            if text != now:
                words = "no system prompt" if not text else f"the system prompt `{_SYSTEM}`"
                for edited in with_parameters(plan, "chat", system=text):
                    yield words, edited
        if in_chat is not None:
            for edited in with_parameters(plan, "chat", system=None):
                yield "the system prompt of the dataset", edited
    elif parameter(plan, "prompt", "system"):
        for edited in with_parameters(plan, "prompt", system=""):
            yield "no system prompt", edited
    if parameter(plan, "prompt", "description"):
        for edited in with_parameters(plan, "prompt", description=""):
            yield "no description of the task", edited


@pitfall("question-wording", "Wording of the question", parts=DOCUMENT)
def question_wording(plan: Plan) -> Edits:
    """`Question:` and `Answer:` stand around a question, or `Q:` and `A:`, or nothing."""
    now = parameter(plan, "prompt", "question")
    if not isinstance(now, str) or not now or parameter(plan, "prompt", "varies") != "answer":
        return
    core = _BEHIND.sub("", _BEFORE.sub("", now))
    if core and "{" not in core:  # the name of a field
        core = "{{" + core + "}}"
    for words, (before, behind) in _ASKED.items():
        if f"{before}{core}{behind}" != now:
            for edited in with_parameters(plan, "prompt", question=f"{before}{core}{behind}"):
                yield words, edited


@pitfall("answer-delimiter", "What stands before the answer", is_ranked=True, parts=DOCUMENT)
def answer_delimiter(plan: Plan) -> Edits:
    """A blank stands between question and answer, or none, or a line's end: a choice then has other tokens."""
    if not has_both(plan):
        return
    name = "chat" if find(plan, "chat") is not None else "prompt"
    for text, words in ((" ", "a blank"), ("", "nothing"), ("\n", "a new line")):
        if parameter(plan, name, "delimiter") not in (text, None):
            for edited in with_parameters(plan, name, delimiter=text):
                yield f"{words} before the answer", edited


@pitfall("trailing-blank", "Blank at the end of the question", parts=DOCUMENT)
def trailing_blank(plan: Plan) -> Edits:
    """A blank ends the question in place of beginning the answer: most tokenizers then cut both in ways unknown to the
    model."""
    if not parameter(plan, "prompt", "question"):
        return
    other = "context" if parameter(plan, "encode_prompt", "spaces") == "continuation" else "continuation"
    for edited in with_parameters(plan, "encode_prompt", spaces=other):
        words = "blanks stay with the question" if other == "context" else "blanks go to the answer"
        yield words, edited
        question, delimiter = parameter(plan, "prompt", "question"), parameter(plan, "prompt", "delimiter")
        if other == "context" and isinstance(question, str) and delimiter == " " and find(plan, "chat") is None:
            for moved in with_parameters(edited, "prompt", question=_filled(question) + " ", delimiter=""):
                yield "the question ends with the blank", moved
    question = parameter(plan, "prompt", "question")
    if isinstance(question, str) and question != question.rstrip(" ") and find(plan, "chat") is None:
        for edited in with_parameters(plan, "prompt", question=question.rstrip(" ")):
            yield "no blank ends the question", edited
            for moved in with_parameters(edited, "prompt", delimiter=" "):
                yield "the blank begins the answer", moved
                for both in with_parameters(moved, "encode_prompt", spaces="continuation"):
                    yield "the blank begins the answer, and goes there", both
    elif isinstance(question, str) and question and find(plan, "chat") is None:
        for edited in with_parameters(plan, "prompt", question=_filled(question) + " "):
            yield "another blank ends the question", edited


def _filled(question: str) -> str:
    """A question that may have text behind it: the name of a field becomes a template."""
    return question if "{" in question or not question.isidentifier() else "{{" + question + "}}"


@pitfall("choice-letters", "Letters or texts to choose from", parts=DOCUMENT)
def choice_letters(plan: Plan) -> Edits:
    """The choices stand in the question and their letters are compared, or their texts are."""
    question, choices = parameter(plan, "prompt", "question"), parameter(plan, "prompt", "choices")
    if (
        not isinstance(question, str)
        or not isinstance(choices, list)
        or parameter(plan, "prompt", "varies") != "answer"
    ):
        return
    for words, asked, listed in (*_to_letters(question, choices), *_to_texts(question, choices)):
        for edited in with_parameters(plan, "prompt", question=asked, choices=listed):
            yield words, edited


def _to_letters(question: str, choices: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    fields = [_FIELD.match(each) for each in choices]
    if not all(fields) or _in_question(question, choices):
        return
    end = _BEHIND.search(_filled(question))
    asked, behind = (_filled(question)[: end.start()], end[0]) if end else (_filled(question), "\nAnswer:")
    if len(choices) == 1 and fields[0] is not None:
        name = fields[0][1]
        lines = "{% for each in " + name + " %}\n{{ '" + _LETTERS + "'[loop.index0] }}. {{ each }}{% endfor %}"
        yield "letters compared", asked + lines + behind, ["{{ ('" + _LETTERS + "'[:" + name + "|length])|list }}"]
    elif len(choices) <= len(_LETTERS):
        lines = "".join(f"\n{letter}. {each}" for letter, each in zip(_LETTERS, choices, strict=False))
        yield "letters compared", asked + lines + behind, list(_LETTERS[: len(choices)])


def _to_texts(question: str, choices: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    listed = _in_question(question, choices)
    if listed:
        yield "texts compared, and the choices not shown", "".join(listed[0]), listed[1]
        yield "texts compared, and the choices shown", question, listed[1]


def _in_question(question: str, choices: list[str]) -> tuple[list[str], list[str]] | None:
    """(lines without the choices, the choices in words), where the question lists them by their letters."""
    if choices != list(_LETTERS[: len(choices)]):
        return None
    kept: list[str] = []
    found: list[str] = []
    lines = question.splitlines(keepends=True)
    for line in lines:
        match = re.match(r"^\(?([A-Z])[.):]\s*(.+?)\s*$", line)
        if match and len(found) < len(choices) and match[1] == _LETTERS[len(found)]:
            found.append(match[2])
        else:
            kept.append(line)
    return (kept, found) if len(found) == len(choices) else None


@pitfall("answer-order", "Order of the choices", weight=0.5, parts=DOCUMENT)
def answer_order(plan: Plan) -> Edits:
    """The right choice is counted from 1 where the choices are from 0, or the choices come in another order."""
    choices = parameter(plan, "prompt", "choices")
    if not isinstance(choices, list) or parameter(plan, "prompt", "varies") != "answer":
        return
    for words, listed in _orders(choices):
        for edited in with_parameters(plan, "prompt", choices=listed):
            yield words, edited


def _orders(choices: list[str]) -> Iterator[tuple[str, list[str]]]:
    if len(choices) > 1:
        yield "choices one place further", [*choices[-1:], *choices[:-1]]
        if len(choices) > 2:
            yield "choices one place back", [*choices[1:], *choices[:1]]
            yield "choices the other way round", choices[::-1]
        return
    field = _FIELD.match(choices[0])
    if field:
        name = f"({field[1]})"
        yield "choices one place further", ["{{ " + f"{name}[-1:] + {name}[:-1]" + " }}"]
        yield "choices one place back", ["{{ " + f"{name}[1:] + {name}[:1]" + " }}"]
        yield "choices the other way round", ["{{ " + f"({name}|reverse|list)" + " }}"]
