"""Fronts of goodness and cost, compared with the definition itself."""

import random

from mlmodelscope.suggestion.pareto import fronts


def by_definition(points: list[tuple[float, float]]) -> list[int]:
    left, found, number = set(range(len(points))), [0] * len(points), 0
    while left:
        number += 1
        front = {
            at
            for at in left
            if not any(
                points[other] != points[at] and points[other][0] >= points[at][0] and points[other][1] <= points[at][1]
                for other in left
            )
        }
        for at in front:
            found[at] = number
        left -= front
    return found


def test_fronts_are_those_of_the_definition() -> None:
    dice = random.Random(7)
    for size in (0, 1, 2, 3, 10, 40):
        for _ in range(60):
            points = [(dice.randint(0, 8) / 2, dice.randint(0, 8) / 2) for _ in range(size)]
            assert fronts(points) == by_definition(points), points


def test_the_best_and_the_cheapest_are_on_the_first_front() -> None:
    assert fronts([(0.9, 100), (0.8, 10), (0.85, 100), (0.7, 10)]) == [1, 1, 2, 2]


def test_equal_points_share_a_front() -> None:
    assert fronts([(1, 1), (1, 1), (0, 1)]) == [1, 1, 2]


def test_thousands_of_models_take_no_time() -> None:
    dice = random.Random(0)
    assert max(fronts([(dice.random(), dice.random()) for _ in range(20_000)])) > 1
