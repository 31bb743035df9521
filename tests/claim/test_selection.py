"""Which claims are checked, in which order, and why others are not."""

from claim.claim_world import check_of, claim_of
from mlmodelscope.claim.selection import select


class Somewhere:
    """A place that lacks what it is told to lack; it notes the models that it was asked about."""

    def __init__(self, datasets=(), models=()):
        self.datasets, self.models, self.asked = datasets, models, []

    def of_dataset(self, name):
        return "no such data" if name in self.datasets else None

    def of_model(self, model, dataset):
        self.asked.append(model)
        return "no such weights" if model in self.models else None


def jobs(selection):
    return [(each.model, each.dataset, len(each.claims)) for each in selection.jobs]


def reasons(selection):
    return {each.reason: each.count for each in selection.left_out}


def test_claims_of_a_model_about_a_dataset_are_one_job():
    rows = [claim_of("a"), claim_of("a", "others"), claim_of("a", metric="top5"), claim_of("b")]
    assert jobs(select(rows, Somewhere())) == [("a", "pictures", 2), ("a", "others", 1), ("b", "pictures", 1)]


def test_each_reason_is_counted_with_examples():
    rows = [claim_of(f"m{number}", "far") for number in range(9)]
    rows += [claim_of("heavy"), claim_of("odd", is_measurable=False, metric="mood"), claim_of("large", fits=False)]
    rows += [claim_of("vague", "")]
    found = select(rows, Somewhere(("far",), ("heavy",)))
    assert not found.jobs and reasons(found) == {
        "no such data": 9,
        "no such weights": 1,
        "`mood` cannot be measured here": 1,
        "it was measured with other steps than the manifest has": 1,
        "it names no dataset": 1,
    }
    assert found.left_out[0].examples == ["m0", "m1", "m2"]


def test_no_model_is_looked_at_for_data_that_is_not_here():
    place = Somewhere(("far",))
    select([claim_of("a", "far"), claim_of("b")], place)
    assert place.asked == ["b"]


def test_what_can_be_measured_of_a_model_is_checked_without_the_rest():
    found = select([claim_of("a"), claim_of("a", metric="mood", is_measurable=False)], Somewhere())
    assert jobs(found) == [("a", "pictures", 1)] and sum(reasons(found).values()) == 1


def test_a_limit_counts_models_that_can_be_checked_and_looks_no_further():
    place = Somewhere(models=("a",))
    found = select([claim_of(name) for name in "abcdef"], place, limit=2)
    assert [each.model for each in found.jobs] == ["b", "c"] and found.beyond == 3
    assert place.asked == ["a", "b", "c"]


def test_what_was_checked_before_counts_and_needs_nothing_here():
    place = Somewhere()
    found = select([claim_of("a", check=check_of()), claim_of("b"), claim_of("c")], place, limit=2)
    assert [(each.model, each.is_done) for each in found.jobs] == [("a", True), ("b", False)]
    assert place.asked == ["b"]


def test_undecided_on_some_samples_is_checked_again_and_on_all_is_not():
    some = check_of(verdict="undecided", samples=5)
    unknown = check_of(verdict="undecided", population=None)
    every = check_of(verdict="undecided")
    found = select(
        [claim_of(name, check=each) for name, each in zip("abc", (some, unknown, every), strict=True)], Somewhere()
    )
    assert [each.is_done for each in found.jobs] == [False, False, True]
