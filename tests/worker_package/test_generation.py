"""Answers made token by token: the same as a plain loop makes, alone or in a batch, with a past or without one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.generation import NO_TOKEN, Beams, Generator, Greedy, NothingFound, as_table
from mlmodelscope_worker.predictor import PREDICTORS, ModelError
from mlmodelscope_worker.predictor.predictor import Predictor

pytest.importorskip("onnx", reason="it makes the small models of these tests")
pytest.importorskip("onnxruntime")

from worker_package import decoders  # noqa: E402  (it needs onnx)
from worker_package.decoders import CACHED, PLAIN, SIZE, STOP  # noqa: E402

IDS = np.array([[2, 3, 0], [4, 0, 0], [5, 6, 7], [8, 8, 0]])
SEEDS = range(8)


def load(path: Path) -> Predictor:
    declared = PREDICTORS["onnxruntime"]
    return declared.function({"graph": str(path)}, **declared.resolve({"threads": 1}))


def generator(folder: Path, seed: int = 0, *, cached: bool = False, **changes: Any) -> tuple[Generator, Predictor]:
    made = (decoders.cached_decoder if cached else decoders.decoder)(folder, seed)
    encoder = load(decoders.encoder(folder, seed))
    return Generator({**(CACHED if cached else PLAIN), **changes}, load(made), encoder), encoder


def said(found: tuple[Generator, Predictor], ids: np.ndarray = IDS) -> tuple[list[list[int]], np.ndarray]:
    """(tokens of each row, the encoder's states)."""
    generate, encoder = found
    outputs = encoder.run([ids])
    _, tokens = generate.decode([ids], outputs, [generate.spec["longest"]] * len(ids))
    return [[int(each) for each in row if each != NO_TOKEN] for row in tokens], outputs[0]


@pytest.mark.parametrize("cached", [False, True])
def test_greedy_is_a_plain_loop_with_a_past_and_without_one(tmp_path: Path, cached: bool) -> None:
    seen = set()
    for seed in SEEDS:
        tokens, states = said(generator(tmp_path, seed, cached=cached))
        assert tokens == [decoders.greedy(seed, each, 6) for each in states]
        seen |= {len(each) for each in tokens}
    assert 6 in seen and len(seen) > 2, "some texts stop by themselves, at different places, and some are cut"


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("penalty", [-1.0, 0.0, 0.6, 2.0])
def test_wide_beams_find_the_best_of_all_texts(tmp_path: Path, cached: bool, penalty: float) -> None:
    """There are more beams than texts: the search cannot end before it has seen all of them."""
    better = 0
    for seed in SEEDS:
        found = generator(tmp_path, seed, cached=cached, beams=64, length_penalty=penalty, longest=3)
        tokens, states = said(found)
        assert tokens == [decoders.exhaustive(seed, each, 3, penalty) for each in states]
        better += sum(row != decoders.greedy(seed, each, 3) for row, each in zip(tokens, states, strict=True))
    assert better, "greedy does not find them"


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("beams", [1, 3])
def test_rows_of_a_batch_say_what_they_say_alone(tmp_path: Path, cached: bool, beams: int) -> None:
    found = generator(tmp_path, 3, cached=cached, beams=beams)
    assert said(found)[0] == [said(found, IDS[row : row + 1])[0][0] for row in range(len(IDS))]


def test_beams_with_a_past_are_those_without_one(tmp_path: Path) -> None:
    for seed in SEEDS:
        plain, cached = (generator(tmp_path, seed, cached=each, beams=3) for each in (False, True))
        assert said(plain)[0] == said(cached)[0]


def test_tokens_that_are_never_chosen_are_not(tmp_path: Path) -> None:
    for beams in (1, 4):
        tokens, states = said(generator(tmp_path, 1, never=(STOP, 3, 99), beams=beams))
        assert all(len(row) == 6 and not {STOP, 3} & set(row) for row in tokens)
        if beams == 1:
            assert tokens == [decoders.greedy(1, each, 6, (STOP, 3)) for each in states]


def test_a_decoder_that_never_stops_is_stopped(tmp_path: Path) -> None:
    for beams in (1, 2):
        assert {len(each) for each in said(generator(tmp_path, 0, stop=(), longest=9, beams=beams))[0]} == {9}


def test_each_row_has_a_bound_of_its_own(tmp_path: Path) -> None:
    generate, encoder = generator(tmp_path, 0, stop=())
    _, tokens = generate.decode([IDS], encoder.run([IDS]), [0, 1, 3, 100])
    assert [(row != NO_TOKEN).sum() for row in tokens] == [0, 1, 3, 6]
    assert generate.decode([IDS[:1]], encoder.run([IDS[:1]]), [0])[1].tolist() == [[NO_TOKEN]]


def test_a_start_of_several_tokens_is_no_part_of_the_answer(tmp_path: Path) -> None:
    one = said(generator(tmp_path, 0, stop=()))[0][0]
    again = said(generator(tmp_path, 0, stop=(), start=(0, *one[:2]), longest=4))[0][0]
    assert again == one[2:]


@pytest.mark.parametrize("search", [Greedy, Beams])
@pytest.mark.parametrize(
    ("scores", "never", "words"),
    [
        ([np.nan, 1, 2], (), "not-a-number, or a score without bound"),
        ([np.inf, 1, 2], (), "not-a-number, or a score without bound"),
        ([-np.inf, -np.inf, -np.inf], (), "none of the decoder's tokens may be chosen"),
        ([0, 1, 2], (0, 1, 2), "none of the decoder's tokens may be chosen"),
    ],
)
def test_scores_that_are_garbage_are_refused(search: Any, scores: list[float], never: Any, words: str) -> None:
    made = search({**PLAIN, "never": never, "beams": 2})
    with pytest.raises(NothingFound, match=words):
        made.take(np.array([scores]))


def test_of_equal_scores_the_lowest_number_is_taken() -> None:
    search = Greedy(PLAIN)
    search.take(np.array([[0, 0, 7, 7, 7]]))  # whole numbers are scores too
    assert search.tokens == [2]


def test_a_text_that_is_impossible_is_not_followed() -> None:
    """Where fewer tokens are possible than there are beams, the others do not become beams."""
    search = Beams({**PLAIN, "beams": 4, "stop": ()})
    assert search.take(np.array([[0.0, -np.inf, 0.0, -np.inf, -np.inf]])).tolist() == [0, 0]
    assert search.width == 2 and [row[-1] for row in search.rows] == [0, 2]


def test_a_beam_ends_where_all_go_on_to_stop() -> None:
    search = Beams({**PLAIN, "beams": 2})
    search.take(np.array([[-np.inf, 0.0, -np.inf]]))
    search.finish()
    assert search.is_done and search.tokens == []


@pytest.mark.parametrize("shape", [(1, SIZE, 1, 1), (SIZE,)])
def test_scores_of_another_rank_are_refused(shape: tuple[int, ...], tmp_path: Path) -> None:
    generate, encoder = generator(tmp_path)
    generate.decoder = Odd(generate.decoder, np.zeros(shape, np.float32))
    with pytest.raises(ModelError, match=f"scores have {len(shape)} axes, 2 or 3 are due"):
        generate.decode([IDS], encoder.run([IDS]), [1] * len(IDS))


class Odd:
    """A decoder that answers with the same array, whatever it is told."""

    def __init__(self, real: Predictor, answer: np.ndarray) -> None:
        self.inputs, self.outputs, self._answer = real.inputs, real.outputs, answer

    def check(self, feeds: Any) -> None:
        pass

    def run(self, feeds: Any) -> list[np.ndarray]:
        return [self._answer]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"feeds": {"said": "tokens"}}, "nothing feeds the decoder's input `states`: name it under `generate"),
        ({"feeds": {**PLAIN["feeds"], "sad": "tokens"}}, "has no input `sad`; it takes said, states"),
        ({"feeds": {"said": "tokens", "states": "outputs.state"}}, "has no output `state`; it has states"),
        ({"feeds": {"said": "tokens", "states": "inputs.id"}}, "has no input `id`; it has ids"),
        ({"feeds": {"said": "tokens", "states": "outputs.7"}}, "there is no number 7; it has states"),
        ({"past": {"past": "present"}}, "no input of the decoder begins with `past`, as `past` says; it takes said"),
        ({"past": {"states": "present"}}, "no output `present` to feed `states` with; it gives scores"),
        ({"past": {"states": "scores"}}, "`states` is fed by `feeds` and by `past`; one must go"),
        ({"scores": "score"}, "has no output `score`; it has scores"),
    ],
)
def test_what_does_not_fit_the_decoder_is_told_with_the_names_that_it_has(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(ModelError, match=words):
        generator(tmp_path, **changes)


def test_an_encoders_tensors_may_be_named_by_their_numbers(tmp_path: Path) -> None:
    by_number = generator(tmp_path, feeds={"said": "tokens", "states": "outputs.0"})
    assert said(by_number)[0] == said(generator(tmp_path))[0]


def test_a_past_needs_a_shape(tmp_path: Path) -> None:
    generate, encoder = generator(tmp_path, cached=True)
    generate.decoder.inputs[-1].shape = None
    with pytest.raises(ModelError, match=r"the shape of the decoder's input `past.encoder` is open"):
        generate.decode([IDS], encoder.run([IDS]), [3] * len(IDS))


def test_rows_of_tokens_become_one_array() -> None:
    assert as_table([[1, 2], [], [3]]).tolist() == [[1, 2], [NO_TOKEN, NO_TOKEN], [3, NO_TOKEN]]
    assert as_table([[]]).tolist() == [[NO_TOKEN]]
