"""Claims on real models, small ones: pairs of mistakes, the claimant's own answers, interruptions, other numbers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mlmodelscope import Settings, evaluate
from mlmodelscope.errors import UsageError
from mlmodelscope.record.log import write_log
from mlmodelscope.record.store import Store
from mlmodelscope.replicate.claim import Claim
from mlmodelscope.replicate.describe import describe_paired, describe_search
from mlmodelscope.replicate.export import to_json
from mlmodelscope.replicate.kept import KeptAnswers
from mlmodelscope.replicate.replication import open_trials, replicate
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.variants import Answer
from replicate.scenes import make_colours, make_seer, replicated


def test_two_mistakes_at_once_are_both_named(tmp_path: Path, settings: Settings) -> None:
    model = make_seer(tmp_path, "BGR", label_offset=-1)
    claim = Claim("top1", "100.0", "colours")
    done = replicate(model, make_colours(tmp_path), claim=claim, settings=settings)
    assert done.found is not None and done.found.explained
    assert set(done.found.explained[0].pitfalls) == {"color-layout", "label-offset"}
    assert done.evidence is not None and done.evidence.count("right now") == 12


@pytest.fixture
def log(tmp_path: Path, settings: Settings) -> Path:
    """What somebody got who knows that the colours are red, green, blue."""
    record = evaluate(make_seer(tmp_path, "RGB"), make_colours(tmp_path), settings=settings)
    store = Store(settings)
    try:
        return write_log(record, store, tmp_path / "theirs.log.yml")[0]
    finally:
        store.close()


def test_a_reference_log_is_a_claim_and_its_answers_are_compared(tmp_path: Path, settings: Settings, log: Path) -> None:
    done = replicate(make_seer(tmp_path, "BGR"), make_colours(tmp_path), log=log, settings=settings)
    assert done.verdict.kind == "not reproduced" and done.verdict.claim.text == "100.00"
    paired = done.verdict.paired
    assert paired is not None and (paired.both, paired.only_ours, paired.only_theirs) == (4, 0, 8)
    assert "33.3 % are the same" in " ".join(describe_paired(done.verdict))
    assert done.found is not None
    (cause,) = done.found.explained
    assert cause.pitfalls == ("color-layout",) and cause.agreement == 1.0 and cause.score_distance == 0.0
    assert to_json(done)["claimants_answers"]["only_theirs"] == 8
    assert to_json(done)["explained_by"][0]["agreement"] == 1.0


def test_who_gives_the_logs_own_answers_has_reproduced_it(tmp_path: Path, settings: Settings, log: Path) -> None:
    done = replicate(make_seer(tmp_path, "RGB"), make_colours(tmp_path), log=log, settings=settings)
    assert done.verdict.kind == "reproduced" and done.verdict.paired is not None
    assert done.verdict.paired.agreement == 1.0 and done.verdict.paired.p_value == 1.0


def test_a_search_that_was_interrupted_goes_on_where_it_stopped(tmp_path: Path, settings: Settings) -> None:
    class Impatient(Watcher):
        rounds = 0

        def building(self, what: str) -> None:
            if "samples" in what:
                self.rounds += 1
                if self.rounds == 2:
                    raise KeyboardInterrupt

    model, colours = make_seer(tmp_path), make_colours(tmp_path, each=12)
    claim = Claim("top1", "78.0", "colours")
    with pytest.raises(KeyboardInterrupt):
        replicate(model, colours, claim=claim, budget=1000, settings=settings, watcher=Impatient())
    interrupted = replicate(model, colours, claim=claim, budget=1000, settings=settings)
    again = replicate(model, colours, claim=claim, budget=1000, settings=settings)
    elsewhere = Settings(home=tmp_path / "new" / "home", cache=tmp_path / "new" / "cache")
    fresh = replicate(model, colours, claim=claim, budget=1000, settings=elsewhere)
    costs = [done.cost.calls for done in (again, interrupted, fresh) if done.cost is not None]
    assert costs[0] == 0 < costs[1] < costs[2]
    for done in (again, interrupted):
        assert done.found is not None and fresh.found is not None
        assert [each.expected for each in done.found.candidates] == [each.expected for each in fresh.found.candidates]


def test_kept_answers_that_cannot_be_read_are_only_computed_again(tmp_path: Path) -> None:
    path = tmp_path / "trials" / "kept.sqlite"
    kept = KeptAnswers(path)
    kept.add({"a": {3: Answer((1, 2), (0.9, 0.1)), 4: None}})
    kept.close()
    kept = KeptAnswers(path)
    assert kept.of("a") == {3: Answer((1, 2), (0.9, 0.1)), 4: None} and kept.of("b") == {}
    kept.close()
    path.write_bytes(b"SQLite format 3\0 and then nonsense" * 100)
    kept = KeptAnswers(path)
    assert kept.of("a") == {}
    kept.close()


def test_what_runs_the_model_is_tried_after_what_prepares_its_samples(tmp_path: Path, settings: Settings) -> None:
    done = replicated(tmp_path, settings, "78.3")
    assert done.found is not None
    with open_trials(done.record, settings, Watcher()) as trials:
        names = {each.pitfalls[0] for each in trials.possible}
    assert {"threads", "graph-optimization", "batch-size"} <= names
    said = " ".join(describe_search(done.found, done.verdict))
    assert "Nothing that was tried explains" in said


def test_another_stack_is_a_variant_where_it_is_named(tmp_path: Path, settings: Settings) -> None:
    claim = Claim("top1", "78.3", "colours")
    model, colours = make_seer(tmp_path), make_colours(tmp_path)
    done = replicate(model, colours, claim=claim, stacks=["current"], settings=settings)
    assert done.found is not None and not done.found.explained  # the same software answers the same
    with pytest.raises(UsageError, match="no-such-stack"):
        replicate(model, colours, claim=claim, stacks=["no-such-stack"], settings=settings)


@pytest.mark.parametrize(("metric", "good", "bad"), [("top1-error", "66.7", "10.0"), ("class-accuracy", "33.3", "100")])
def test_other_numbers_than_accuracy_are_judged_and_explained(
    tmp_path: Path, settings: Settings, metric: str, good: str, bad: str
) -> None:
    model, colours = make_seer(tmp_path), make_colours(tmp_path)
    assert (
        replicate(model, colours, claim=Claim(metric, good, "colours"), settings=settings).verdict.kind == "reproduced"
    )
    bad = "0.0" if metric == "top1-error" else bad
    done = replicate(model, colours, claim=Claim(metric, bad, "colours"), settings=settings)
    assert done.verdict.kind == "not reproduced" and done.found is not None
    assert done.found.candidates[0].pitfalls == ("color-layout",) and done.found.explained


def test_a_log_without_a_model_here_names_what_is_missing(
    tmp_path: Path, settings: Settings, log: Path, make_dataset: Callable
) -> None:
    with pytest.raises(UsageError, match="seer"):
        replicate(log=log, settings=settings)
    with pytest.raises(UsageError, match="no model is named"):
        replicate(settings=settings)
