"""What a language model said before is not asked again, and what is cut or continued is what it would have written."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import language_world
from mlmodelscope_worker import remembered
from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS
from mlmodelscope_worker.predictor.language_model import LanguageModel, Written
from mlmodelscope_worker.remembered import Remembered
from mlmodelscope_worker.session import open_predictor

SETTINGS = {"longest": 8, "stop": [], "stop_tokens": None, "temperature": 0.0, "top_k": None, "top_p": None, "seed": 0}


class Counting(LanguageModel):
    """Writes the digits after the context's last one, and is asked to do so as seldom as can be."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def score(self, rows: Any) -> Any:
        self.asked.append(list(rows))
        return [(np.zeros(len(each)), np.ones(len(each), bool)) for _, each in rows]

    def write(self, contexts: Any, settings: Any, decode: Any, is_over: Any) -> Any:
        self.asked.append([list(each) for each in contexts])
        return [self._written(each[-1], settings, decode, is_over) for each in contexts]

    def _written(self, last: int, settings: Any, decode: Any, is_over: Any) -> Written:
        tokens: list[int] = []
        while len(tokens) < settings["longest"]:
            last += 1
            if last > 9:
                return Written(tokens, decode(tokens), "stop", range(len(tokens) + 1))
            tokens.append(last)
            if is_over(decode(tokens)):
                return Written(tokens, decode(tokens), "stop", range(len(tokens)))
        return Written(tokens, decode(tokens), "length", range(len(tokens)))


def decode(tokens: Any) -> str:
    return "".join(map(str, tokens))


def ends_at(stop: str) -> Any:
    return lambda text: bool(stop) and stop in text


@pytest.fixture
def engine() -> Counting:
    return Counting()


@pytest.fixture
def known(engine: Counting) -> Remembered:
    return Remembered(engine, 2)


def told(written: Written) -> tuple[str, str]:
    return written.text, written.ending


def ask(known: Remembered, stop: str = "", **changes: Any) -> Written:
    return known.write([[0]], {**SETTINGS, **changes}, decode, ends_at(stop))[0]


def test_a_row_is_scored_once_and_those_with_one_context_together(known: Remembered, engine: Counting) -> None:
    one, two, other = ([1, 2], [3]), ([1, 2], [4, 5]), ([8, 7], [3])
    assert len(known.score([one, other, two, one])) == 3
    assert known.score([two, other]) == []
    assert [sorted(len(row[1]) for row in part) for part in engine.asked] == [[1, 2], [1]]
    assert known.tokens_run == 2 + 3 + 2  # all but the last token of each row, as the engine does not count


@pytest.mark.parametrize("stop", ["", "3", "6", "9"])
@pytest.mark.parametrize("longest", [1, 3, 5, 8, 20])
def test_texts_are_those_that_would_have_been_written(stop: str, longest: int, known: Remembered) -> None:
    for first in ("", "2", "5"):
        ask(known, first, longest=4)
    assert told(ask(known, stop, longest=longest)) == told(ask(Remembered(Counting(), 1), stop, longest=longest))


def test_a_shorter_text_needs_no_call_and_a_longer_one_only_its_rest(known: Remembered, engine: Counting) -> None:
    assert told(ask(known, longest=4)) == ("1234", "length")
    assert told(ask(known, longest=2)) == ("12", "length") and told(ask(known, "3")) == ("123", "stop")
    assert len(engine.asked) == 1
    assert told(ask(known, longest=6)) == ("123456", "length")
    assert engine.asked[1:] == [[[0, 1, 2, 3, 4]]]
    assert told(ask(known, longest=50)) == ("123456789", "stop")
    ask(known, longest=100)
    assert len(engine.asked) == 3  # the end came from the model itself: nothing follows


def test_other_tokens_for_the_end_are_another_question(known: Remembered, engine: Counting) -> None:
    ask(known)
    ask(known, stop_tokens=[5])
    assert len(engine.asked) == 2


def test_what_is_drawn_is_not_remembered(known: Remembered, engine: Counting) -> None:
    ask(known, temperature=1.0)
    ask(known, temperature=1.0)
    assert len(engine.asked) == 2


def test_what_is_cut_may_be_changed_by_its_reader(known: Remembered) -> None:
    found = ask(known, "3")
    found.text, found.tokens[:] = "", []
    assert told(ask(known, "3")) == ("123", "stop")


def test_the_oldest_is_forgotten(known: Remembered, engine: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "_MOST_ROWS", 1)
    known.score([([1], [2]), ([2], [3])])
    known.forget()
    assert len(known.score([([1], [2]), ([2], [3])])) == 1


def test_an_engine_that_counts_is_believed(tmp_path: Path) -> None:
    graph = language_world.write_arpa(tmp_path / "m.arpa", [list("abracadabra")])
    model = open_predictor(PredictorTask("ngram", {"graph": str(graph)}, PREDICTORS["ngram"].resolve({})))
    known = Remembered(model, 8)
    context = model.encode("abra", False)
    known.score([(context, model.encode("cad", False)), (context, model.encode("bra", False))])
    assert known.tokens_run == 3 + 3 + 3  # the context but for its last token, once
    (made,) = known.write([model.encode("ab", False)], SETTINGS, model.decode, ends_at(""))
    # The context, and each token but the last, which nothing follows: it is the end, or the most there may be.
    assert known.tokens_run == 9 + 2 + len(made.tokens) - (made.ending == "length")
    assert known.mean_written == len(made.tokens) > 0
