"""Models that count: probabilities by the file's own numbers, and texts that are the same everywhere."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import language_world
from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError
from mlmodelscope_worker.session import open_predictor

SMALL = """
\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-99\t<s>\t-0.5
-1.0\t</s>
-2.0\t<unk>
-0.5\tone\t-0.25
-0.75\ttwo

\\2-grams:
-0.125\t<s> one
-0.375\tone two
-0.5\ttwo </s>

\\end\\
"""


def opened(path: Path, **options: Any) -> Any:
    return open_predictor(PredictorTask("ngram", {"graph": str(path)}, PREDICTORS["ngram"].resolve(options)))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.arpa"
    path.write_text(SMALL)
    return path


def settings(**changes: Any) -> dict[str, Any]:
    usual = {
        "longest": 20,
        "stop": [],
        "stop_tokens": None,
        "temperature": 0.0,
        "top_k": None,
        "top_p": None,
        "seed": 0,
    }
    return {**usual, **changes}


def write(model: Any, context: str, **changes: Any) -> Any:
    given = settings(**changes)
    is_over = lambda text: any(each in text for each in given["stop"])  # noqa: E731
    return model.write([model.encode(context, True)], given, model.decode, is_over)[0]


def test_logarithms_are_the_files_with_the_weight_of_backing_off(small: Path) -> None:
    model = opened(small)
    start, one, two = model.prefix, *model.encode("one two", False)
    ((logs, likeliest),) = model.score([([start], [one, two, one])])
    # Nothing but the end is listed after `two`, which has no weight.
    assert logs == pytest.approx(np.array([-0.125, -0.375, -0.5]) * math.log(10))
    assert likeliest.tolist() == [True, True, False]
    ((logs, likeliest),) = model.score([([start], [two])])
    assert logs == pytest.approx([(-0.5 - 0.75) * math.log(10)]) and not likeliest[0]


def test_unknown_words_have_a_token_where_the_file_has_one(small: Path, tmp_path: Path) -> None:
    model = opened(small)
    assert model.decode(model.encode("one three", True)) == "one <unk>"
    other = tmp_path / "other.arpa"
    other.write_text(SMALL.replace("-2.0\t<unk>\n", "").replace("ngram 1=5", "ngram 1=4"))
    with pytest.raises(ModelError, match="'three' is not in the model's vocabulary"):
        opened(other).encode("three", False)


def test_pieces_are_the_longest_there_are_and_keep_blanks(tmp_path: Path) -> None:
    lines = ["ab a\n", "b  ab"]
    path = language_world.write_arpa(
        tmp_path / "p.arpa", [language_world.pieces_of(each, ["ab", " a"]) for each in lines]
    )
    model = opened(path)
    tokens = model.encode("ab  ab\n", False)
    assert [model.decode([each]) for each in tokens] == ["ab", " ", " a", "b", "\n"]
    assert model.encode("a", True)[0] == model.prefix


def test_what_is_counted_is_told_by_the_vocabulary_or_by_an_option(small: Path, tmp_path: Path) -> None:
    assert opened(small).encode("onetwo", False) == opened(small).encode("three", False)  # unknown words
    assert len(opened(small, unit="pieces").encode("onetwo", False)) == 2
    pieces = language_world.write_arpa(tmp_path / "p.arpa", [["a", " ", "b"]])
    assert len(opened(pieces).encode("a b", False)) == 3 and len(opened(pieces, unit="words").encode("a b", False)) == 2


def test_probabilities_after_any_history_sum_to_one(tmp_path: Path) -> None:
    path = language_world.write_arpa(tmp_path / "m.arpa", [list("abracadabra"), list("cab"), []], order=4)
    model = opened(path)
    count = len(language_world.SPECIAL) + len(set("abracd "))
    for context in ("", "a", "ab", "abr", "ddd"):
        rows = [(model.encode(context, True), [each]) for each in range(count)]
        assert sum(math.exp(logs[0]) for logs, _ in model.score(rows)) == pytest.approx(1)


def test_a_row_is_as_likely_alone_as_among_others(tmp_path: Path) -> None:
    model = opened(language_world.write_arpa(tmp_path / "m.arpa", [list("abracadabra")]))
    rows = [(model.encode("abra", True), model.encode(each, False)) for each in ("cad", "bra", "a")]
    together = [logs.tolist() for logs, _ in model.score(rows)]
    assert together == [model.score([each])[0][0].tolist() for each in rows]


def test_it_writes_the_likeliest_until_something_ends_it(small: Path) -> None:
    model = opened(small)
    whole = write(model, "")
    assert (whole.text, whole.ending, len(whole.moments)) == ("one two", "stop", 3)
    assert (write(model, "", longest=1).text, write(model, "", longest=1).ending) == ("one", "length")
    assert write(model, "", stop=["two"]).ending == "stop"
    assert write(model, "", stop_tokens=[], longest=4).ending == "length"


def test_what_is_drawn_depends_on_the_seed_alone(tmp_path: Path) -> None:
    model = opened(language_world.write_arpa(tmp_path / "m.arpa", [list("abracadabra")] * 3))
    first = [write(model, "", temperature=2.0, seed=seed).text for seed in range(6)]
    assert first == [write(model, "", temperature=2.0, seed=seed).text for seed in range(6)]
    assert len(set(first)) > 1
    greedy = write(model, "").text
    assert write(model, "", temperature=2.0, top_k=1).text == greedy
    assert write(model, "", temperature=2.0, top_p=1e-6).text == greedy


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: "", r"begins with \\data"),
        (lambda text: text.replace("ngram 1=5", "ngram 1=6"), "no 1-gram"),
        (lambda text: text.replace("ngram 2=3", "ngram 2=4"), "no 2-gram"),
        (lambda text: text.replace("ngram 1=5", "ngram 1=99999999999"), "more than can be read"),
        (lambda text: text.replace("ngram 1=5", "ngram 1=-5"), "head has the line"),
        (lambda text: text.replace("-0.375", "nan"), "'nan' for a logarithm"),
        (lambda text: text.replace("-0.375", "many"), "'many' for a logarithm"),
        (lambda text: text.replace("\tone two", "\tone ten"), "'ten' in an n-gram, and not alone"),
        (lambda text: text.replace("\ttwo\n", "\tone\n", 1), "'one' twice"),
        (lambda text: text.replace("\\2-grams:", "\\3-grams:"), "where its 2-grams begin"),
        (lambda text: text[: len(text) // 2], "gram"),
    ],
)
def test_a_damaged_file_is_refused(damage: Any, message: str, small: Path) -> None:
    small.write_text(damage(SMALL))
    with pytest.raises(ModelError, match=message):
        opened(small)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "zip.arpa"
    path.write_bytes(b"PK\x03\x04\xff\xfe")
    with pytest.raises(ModelError, match="cannot be read"):
        opened(path)
    with pytest.raises(ModelError, match="cannot be read"):
        opened(tmp_path / "missing.arpa")


def test_a_token_that_there_is_not_is_refused(small: Path) -> None:
    with pytest.raises(ModelError, match="none of the model's 5"):
        opened(small).score([([0], [5])])


def test_what_is_remembered_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlmodelscope_worker.predictor import ngram as module

    path = language_world.write_arpa(tmp_path / "m.arpa", [list("abracadabra")])
    monkeypatch.setattr(module, "_MOST_REMEMBERED", 30)
    model, free = opened(path), opened(path)
    row = (model.encode("", True), model.encode("abracadabra", False))
    small = model.score([row])[0][0].tolist()
    assert len(model._known) <= 4
    monkeypatch.undo()
    assert free.score([row])[0][0].tolist() == small
