"""The optimal batch: where doubling gains no more than 5 %."""

import pytest

from mlmodelscope.bench.batch_size import Point, TooLarge, optimal, sweep


def points(*speeds: float) -> list[Point]:
    return [Point(2**place, speed) for place, speed in enumerate(speeds)]


def test_the_optimal_batch_is_where_doubling_stops_to_pay() -> None:
    assert optimal(points(100, 180, 300, 310, 312)).batch_size == 4
    assert optimal(points(100, 99, 98)).batch_size == 1
    assert optimal(points(100, 200, 400)).batch_size == 4
    assert optimal(points(100, 104, 109)).batch_size == 2  # each step gains too little, both together do not


def test_a_sweep_ends_when_two_doublings_did_not_pay() -> None:
    speeds = {1: 100.0, 2: 180.0, 4: 300.0, 8: 310.0, 16: 312.0, 32: 900.0}
    found = sweep(lambda size: Point(size, speeds[size]))
    assert [each.batch_size for each in found.points] == [1, 2, 4, 8, 16] and found.optimal.batch_size == 4
    assert found.ended == "doubling twice gained no more than 5 %"


def test_one_slow_size_does_not_end_it() -> None:
    speeds = {1: 100.0, 2: 90.0, 4: 200.0, 8: 201.0, 16: 202.0}
    assert sweep(lambda size: Point(size, speeds[size])).optimal.batch_size == 4


def test_a_model_that_takes_no_larger_batch_ends_it_and_says_why() -> None:
    def try_size(size: int) -> Point:
        if size > 2:
            raise TooLarge("its batch size is fixed to 2")
        return Point(size, 100.0 * size)

    found = sweep(try_size)
    assert found.optimal.batch_size == 2 and found.ended == "its batch size is fixed to 2"


def test_a_model_that_takes_none_at_all_is_an_error() -> None:
    def refuse(size: int) -> Point:
        raise TooLarge("no")

    with pytest.raises(TooLarge):
        sweep(refuse)


def test_no_more_than_the_largest_is_tried() -> None:
    found = sweep(lambda size: Point(size, float(size)), most=8)
    assert found.points[-1].batch_size == 8 and found.ended == "8 was the largest to try"
