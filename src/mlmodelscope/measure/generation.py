"""Texts that a language model wrote: which part counts, and whether it is what was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlmodelscope.errors import LimitError
from mlmodelscope.measure.answering import QuestionAnswering, _table, f1, squad
from mlmodelscope.measure.executing import PASSES, executed
from mlmodelscope.measure.extraction import extracted, number_in, takes_the_last
from mlmodelscope.measure.facts import facts_of
from mlmodelscope.measure.pack import pack
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule
from mlmodelscope.measure.texts import answered_text, usable_text

_MOST_SHOWN = 500
_MOST_TEXTS = 1000
_MOST_OUTCOMES = 50
Item = tuple[Arrays, Mapping[str, Any], Any]


@task_rule("text_generation")
class Generation(QuestionAnswering):
    """A score holds, as shares of the answers to one question: those that match, their F1, those that are the same
    number, those that have the reference in them; and whether any matches."""

    measures = ("exact-match", "answer-f1", "numeric-match", "contains", "any-match", *PASSES)

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        (found,) = self.score_together([(arrays, fields, target)], options)
        if isinstance(found, ScoreError):
            raise found
        return found

    def score_together(self, items: Sequence[Item], options: Mapping[str, Any]) -> list[bytes | ScoreError]:
        """Some samples at once: expressions are matched in another process, which takes a question's time."""
        read = [_read(fields, target) for _, fields, target in items]
        good = [each for each in read if not isinstance(each, ScoreError)]
        common = options.get("normalization", ())
        taken = self._extracted([answers for answers, _ in good], [*options.get("extract", ()), *common])
        right = self._extracted([due for _, due in good], [*options.get("reference_extract", ()), *common])
        pairs = iter(zip(taken, right, strict=True))
        found: list[bytes | ScoreError] = []
        for each, (_, fields, _target) in zip(read, items, strict=True):
            try:
                if isinstance(each, ScoreError):
                    raise each
                answers, due = next(pairs)
                usable = _usable(answers, "answer"), _usable(due, "reference")
                judged = executed if options.get("execute", "none") != "none" else _scored
                found.append(judged(*usable, fields, options))
            except ScoreError as error:
                found.append(error)
        return found

    def _rows(self, scores: Sequence[bytes], name: str) -> np.ndarray:
        """Of what was not looked at there is no number; older scores have fewer columns."""
        values, _ = _table(tuple(scores))
        place = self.measures.index(name.partition(":")[0])
        if place >= values.shape[1]:
            return np.full((len(values), 2), np.nan)
        return super()._rows(scores, name)

    def _extracted(self, groups: list[list[str]], steps: list[Any]) -> list[list[str | LimitError]]:
        """The same for each group of texts."""
        remaining = iter(extracted([text for group in groups for text in group], steps))
        return [[next(remaining) for _ in group] for group in groups]

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        """How answers ended, and how many had nothing that could be taken out of them."""
        facts = [facts_of(each) for each in scores]
        endings = Counter(each["ending"] for each in facts if each.get("ending"))
        empty = sum(each.get("empty", 0) for each in facts)
        found: dict[str, Any] = {
            "answers": {"written": sum(each["answers"] for each in facts), "empty": empty, **endings}
        }
        outcomes = Counter(outcome for each in facts for outcome in each.get("outcomes", ()))
        return found | ({"executed": dict(outcomes.most_common(_MOST_OUTCOMES))} if outcomes else {})


def _read(fields: Mapping[str, Any], target: Any) -> tuple[list[str], list[str]] | ScoreError:
    """(answers, references), or why there are none."""
    try:
        return _answers(fields), _references(target)
    except ScoreError as error:
        return error


def _references(target: Any) -> list[str]:
    told = target.get("answers", target.get("texts")) if isinstance(target, Mapping) else None
    if not isinstance(told, list | tuple) or not told:
        raise ScoreError("nobody says what the right answer is")
    return [usable_text(str(each) if isinstance(each, int | float) else each, "its reference") for each in told]


def _answers(fields: Mapping[str, Any]) -> list[str]:
    several = fields.get("texts")
    if several is None:
        return [answered_text(fields)]
    if not isinstance(several, list) or not 1 <= len(several) <= _MOST_TEXTS:
        raise ScoreError(f"its answers are not a list of 1 to {_MOST_TEXTS} texts")
    return [usable_text(each, "an answer") for each in several]


def _usable(texts: list[str | LimitError], what: str) -> list[str]:
    for each in texts:
        if isinstance(each, LimitError):
            raise ScoreError(f"the expression that takes its {what} out of the text does not come to an end: {each}")
    return [each for each in texts if isinstance(each, str)]


def _scored(answers: list[str], due: list[str], fields: Mapping[str, Any], options: Mapping[str, Any]) -> bytes:
    due = [each for each in due if each]
    if not due:
        raise ScoreError("nothing is left of its reference: `reference_extract` takes all of it away")
    if options.get("vote") is True:  # the answer that was given most often, the first of those
        answers = [Counter(answers).most_common(1)[0][0]]
    tolerance = float(options.get("tolerance", 0.0))
    rows = np.array([_compared(each, due, tolerance) for each in answers])
    values = np.concatenate([rows.mean(axis=0), [rows[:, 0].max()], np.full(len(PASSES), np.nan)])
    ending = fields.get("ending")
    return pack(
        {"values": values},
        impossible=False,
        quality=round(float(max(values[0], values[1], values[2])), 9),
        extracted=answers[0][:_MOST_SHOWN],
        is_last=takes_the_last(options.get("extract", ())),
        answers=len(answers),
        empty=sum(not each for each in answers),
        ending=ending if ending in ("stop", "length") else None,
    )


def _compared(answer: str, due: Sequence[str], tolerance: float) -> tuple[float, float, float, float]:
    words, number = squad(answer), number_in(answer)
    numbers = [each for each in map(number_in, due) if each is not None]
    return (
        float(answer in due),
        max(f1(squad(each), words) for each in due),
        float(number is not None and any(_is_near(each, number, tolerance) for each in numbers)),
        float(any(each and each in answer for each in due)),
    )


def _is_near(due: float, number: float, tolerance: float) -> bool:
    return abs(due - number) <= tolerance * abs(due)
