"""Samples are prepared on several threads and predicted on several lanes; answers come in order all the same."""

import threading
from typing import Any

import pytest

from mlmodelscope_worker.pipeline.header import ImageError
from mlmodelscope_worker.pipeline.together import Together
from mlmodelscope_worker.scenario.offline import Batch, Offline


def run(
    batches: list[list[int]], threads: int, lanes: int, prepare=lambda sample, buffers: sample * 10, **ways: Any
) -> list[tuple]:
    answers: list[tuple] = []

    def infer(batch: Batch) -> tuple:
        return batch.index, (list(batch.tensors), dict(batch.errors))

    def emit(index: int, content: tuple, is_last: bool) -> None:
        answers.append((index, *content))
        lasts.append(is_last)

    lasts: list[bool] = []
    offline = Offline(prepare, infer, emit, threads, lanes, **ways)
    offline.submit([Batch(index, samples, []) for index, samples in enumerate(batches)])
    offline.finish()
    assert lasts == [False] * (len(batches) - 1) + [True]
    return answers


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("lanes", [1, 2, 5])
def test_answers_come_in_order_whatever_the_number_of_threads(threads: int, lanes: int) -> None:
    batches = [[10 * index + slot for slot in range(index % 4 + 1)] for index in range(40)]
    answers = run(batches, threads, lanes)
    assert [index for index, _, _ in answers] == list(range(40))
    assert [tensors for _, tensors, _ in answers] == [[sample * 10 for sample in batch] for batch in batches]


def test_a_slow_first_batch_holds_back_the_others() -> None:
    """The second batch is ready before the first is even prepared, and still comes second."""
    second_done = threading.Event()

    def prepare(sample: int, buffers: list) -> int:
        if sample == 0:
            assert second_done.wait(300)
        else:
            second_done.set()
        return sample

    assert [index for index, _, _ in run([[0], [1]], 2, 2, prepare)] == [0, 1]


def test_decoding_runs_ahead_of_the_predictor() -> None:
    """While the predictor is busy with the first batch, the next ones are prepared."""
    ahead = threading.Event()

    def prepare(sample: int, buffers: list) -> int:
        if sample == 3:
            ahead.set()
        return sample

    def infer(batch: Batch) -> tuple:
        assert ahead.wait(300)
        return batch.index, ()

    answers: list[int] = []
    offline = Offline(prepare, infer, lambda index, *_: answers.append(index), 2, 1)
    offline.submit([Batch(index, [index], []) for index in range(4)])
    offline.finish()
    assert answers == [0, 1, 2, 3]


def test_a_sample_that_fails_is_an_error_in_its_slot() -> None:
    def prepare(sample: int, buffers: list) -> int:
        if sample == 2:
            raise ImageError("the file is empty")
        return sample

    assert run([[1, 2, 3]], 2, 1, prepare) == [(0, [1, None, 3], {1: "the file is empty"})]


@pytest.mark.parametrize("accident", [SystemExit, KeyboardInterrupt, MemoryError])
def test_an_exit_in_a_thread_is_a_failed_sample_not_a_host_that_waits_for_ever(accident: type) -> None:
    def prepare(sample: int, buffers: list) -> int:
        if sample == 1:
            raise accident("enough")
        return sample

    answers = run([[1], [2], [3]], 1, 1, prepare)
    assert [list(errors) for _, _, errors in answers] == [[0], [], []]
    assert answers[0][2] == {0: f"{accident.__name__}: enough"}


def test_an_empty_batch_has_an_answer_too() -> None:
    assert run([[], [1], []], 2, 2) == [(0, [], {}), (1, [10], {}), (2, [], {})]


@pytest.mark.parametrize("together", [1, 3, 64])
def test_samples_that_are_prepared_in_one_go_come_out_the_same(together: int) -> None:
    def prepare_all(samples: list[int], buffers: list) -> list:
        assert len(samples) <= together
        return Together(samples).each(lambda sample: 60 // sample).listed()

    batches = [[5, 0, 4], [], [1, 2, 3, 4, 5, 6, 0]]
    expected = run(batches, 2, 2, lambda sample, buffers: 60 // sample)
    assert run(batches, 2, 2, prepare_all=prepare_all, together=together) == expected


def test_what_fails_for_all_fails_each_of_them() -> None:
    def prepare_all(samples: list[int], buffers: list) -> list:
        raise ImageError("out of order")

    assert run([[1, 2]], 1, 1, prepare_all=prepare_all, together=2) == [
        (0, [None, None], {0: "out of order", 1: "out of order"})
    ]
