"""Some of the samples: stable, nested, and with the right shares."""

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.dataset.subset import choose
from mlmodelscope.plan.plan import Subset

SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=8)


def samples_of(sizes: list[int]) -> list[Sample]:
    return [Sample(f"{label}/{index}", {}, "", label) for label, size in enumerate(sizes) for index in range(size)]


def chosen(samples: list[Sample], count: int | None, stratified: bool = False, seed: int = 0) -> list[str]:
    return [sample.id for sample in choose(samples, Subset(count=count, stratified=stratified, seed=seed))]


def test_without_a_count_all_are_taken() -> None:
    samples = samples_of([3, 3])
    assert choose(samples, Subset(count=None, stratified=True, seed=0)) == samples
    assert choose(samples, Subset(count=99, stratified=False, seed=0)) == samples


def test_the_choice_never_changes() -> None:
    """Records of years ago must still mean the same samples."""
    samples = samples_of([5, 5, 2])
    assert chosen(samples, 4) == ["0/0", "0/3", "1/2", "1/3"]
    assert chosen(samples, 4, seed=1) == ["0/3", "1/0", "1/2", "1/3"]
    assert chosen(samples, 6, stratified=True) == ["0/0", "0/3", "0/4", "1/2", "1/3", "2/1"]


@given(SIZES, st.data(), st.booleans(), st.integers(0, 5))
def test_so_many_are_taken_in_the_datasets_order(sizes: list[int], data: st.DataObject, even: bool, seed: int) -> None:
    samples = samples_of(sizes)
    count = data.draw(st.integers(1, len(samples)))
    found = chosen(samples, count, even, seed)
    order = [sample.id for sample in samples]
    assert len(found) == len(set(found)) == count
    assert found == sorted(found, key=order.index)


@given(SIZES, st.data(), st.booleans(), st.integers(0, 5))
def test_a_larger_subset_contains_a_smaller_one(sizes: list[int], data: st.DataObject, even: bool, seed: int) -> None:
    samples = samples_of(sizes)
    small = data.draw(st.integers(1, len(samples)))
    large = data.draw(st.integers(small, len(samples)))
    assert set(chosen(samples, small, even, seed)) <= set(chosen(samples, large, even, seed))


@given(SIZES, st.data(), st.booleans(), st.randoms(use_true_random=False))
def test_the_datasets_order_does_not_matter(
    sizes: list[int], data: st.DataObject, even: bool, shuffler: random.Random
) -> None:
    samples = samples_of(sizes)
    count = data.draw(st.integers(1, len(samples)))
    shuffled = shuffler.sample(samples, len(samples))
    assert set(chosen(samples, count, even)) == set(chosen(shuffled, count, even))


def shares(samples: list[Sample], count: int) -> Counter[str]:
    return Counter(name.split("/")[0] for name in chosen(samples, count, stratified=True))


@given(st.integers(1, 20), st.integers(1, 20), st.data())
def test_classes_of_one_size_get_the_same_to_within_one(classes: int, size: int, data: st.DataObject) -> None:
    samples = samples_of([size] * classes)
    found = shares(samples, data.draw(st.integers(1, len(samples))))
    counts = [found[str(label)] for label in range(classes)]
    assert max(counts) - min(counts) <= 1


@given(SIZES, st.data())
def test_every_class_gets_its_share_to_within_two(sizes: list[int], data: st.DataObject) -> None:
    samples = samples_of(sizes)
    count = data.draw(st.integers(1, len(samples)))
    found = shares(samples, count)
    assert all(abs(found[str(label)] - size * count / len(samples)) < 2 for label, size in enumerate(sizes))


def test_a_thousand_small_classes_do_not_starve_beside_a_large_one() -> None:
    samples = samples_of([5000] + [5] * 1000)
    assert abs(shares(samples, 500)["0"] - 250) <= 2


def test_another_seed_chooses_others() -> None:
    samples = samples_of([100])
    assert chosen(samples, 10, seed=1) != chosen(samples, 10, seed=2)


def test_every_sample_has_the_same_chance() -> None:
    samples = samples_of([10, 10])
    hits = Counter(name for seed in range(400) for name in chosen(samples, 5, seed=seed))
    assert len(hits) == 20 and max(hits.values()) < 160 and min(hits.values()) > 50
