"""A number that is met to its last digit is telling where chance would scatter far, and not where it would not."""

import random

import pytest

from mlmodelscope.replicate.coincidence import Move, chance_of_move


def move(toward: float, gap: float, spread: float = 0.0, seen: int = 5, digit: float = 0.01) -> Move:
    return Move(toward, spread, seen, seen, (gap - digit / 2, gap + digit / 2))


def others(count: int, gap: float) -> list[Move]:
    return [move(gap * (at + 1) / count * (-1) ** at, gap, abs(gap) / 4) for at in range(count)]


def test_five_samples_that_move_by_a_decibel_to_the_digit_are_no_coincidence() -> None:
    own = move(1.32, 1.32, 0.01)
    assert chance_of_move(own, [own, *others(8, 1.32)], is_reached=True) <= 0.05


def test_five_samples_that_move_by_a_hundredth_may_be_one() -> None:
    own = move(0.02, 0.02, 0.002)
    assert chance_of_move(own, [own, *others(40, 0.02)], is_reached=True) > 0.05


def test_without_the_claim_five_samples_never_suffice_among_many() -> None:
    own = move(1.0, 2.0, 0.01)
    assert own.p_value >= 1 / 32
    assert chance_of_move(own, [own, *others(40, 2.0)], is_reached=False) == 1.0


def test_many_samples_suffice_without_the_claim() -> None:
    own = move(1.0, 2.0, 0.05, seen=100)
    assert chance_of_move(own, [own, *others(40, 2.0)], is_reached=False) < 1e-6


def test_many_samples_that_all_move_a_little_prove_nothing() -> None:
    """Another rule moves every sample the same way, whether it is the cause or not."""
    own = move(0.0002, 0.0002, 1e-6, seen=40, digit=0.0001)
    assert own.p_value < 1e-9
    assert chance_of_move(own, [own, *others(6, 0.0002)], is_reached=True) > 0.05


def test_more_digits_are_more_telling() -> None:
    rough, exact = (move(0.3, 0.3, 0.05, digit=digit) for digit in (0.1, 0.001))
    chances = [chance_of_move(each, [each] * 20, is_reached=True) for each in (rough, exact)]
    assert chances[0] > 10 * chances[1]


def test_what_moves_nothing_is_never_telling() -> None:
    idle = move(0.0, 0.5)
    assert idle.p_value == 1.0 and chance_of_move(idle, [idle], is_reached=False) == 0.0


@pytest.mark.parametrize("samples", [5, 20])
def test_a_rare_pitfall_must_be_surer(samples: int) -> None:
    common, rare = (Move(0.4, 0.1, samples, samples, (0.395, 0.405), weight) for weight in (1.0, 0.05))
    family = [common, rare]
    assert chance_of_move(rare, family, is_reached=True) >= chance_of_move(common, family, is_reached=True)


def test_claims_that_are_too_high_are_rarely_explained_by_chance() -> None:
    """Thirty variants that move five samples at random, and claims anywhere: at most one false cause in twenty."""
    chance = random.Random(1)
    false = 0
    for _ in range(300):
        gap = chance.uniform(0.1, 1.5)
        moves = []
        for _ in range(30):
            shifts = [chance.gauss(0, 1) for _ in range(5)]
            mean = sum(shifts) / 5
            spread = (sum((each - mean) ** 2 for each in shifts) / 4 / 5) ** 0.5
            moves.append(move(mean, gap, spread))
        reached = [each for each in moves if each.window[0] <= each.toward <= each.window[1]]
        false += any(chance_of_move(each, moves, is_reached=True) <= 0.05 for each in reached)
    assert false <= 15
