"""Claims on real models, small ones: pairs of mistakes, the claimant's own answers, interruptions, other numbers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.claim import Claim
from mlmodelscope.record.log import write_log
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.replicate.describe import describe_paired, describe_search
from mlmodelscope.replicate.edits import edits_of
from mlmodelscope.replicate.export import to_json
from mlmodelscope.replicate.kept import KeptAnswers
from mlmodelscope.replicate.replication import judge_record, open_trials, replicate
from mlmodelscope.task.class_answer import ClassAnswer as Answer
from mlmodelscope.watcher import Watcher
from replicate.scenes import NAMES, describe_colours, make_colours, make_seer, replicated


def test_two_mistakes_at_once_are_both_named(tmp_path: Path, settings: Settings) -> None:
    model = make_seer(tmp_path, "BGR", label_offset=-1)
    claim = Claim("top1", "100.0", "colours")
    done = replicate(model, make_colours(tmp_path), claim=claim, settings=settings)
    assert done.found is not None and done.found.explained
    assert set(done.found.explained[0].pitfalls) == {"color-layout", "label-offset"}
    assert done.evidence is not None and done.evidence.count("fixed") == 12


@pytest.mark.parametrize(("first", "label_offset"), [(1, 0), (0, 1)])
def test_labels_that_count_from_another_number_are_found(
    tmp_path: Path, settings: Settings, first: int, label_offset: int
) -> None:
    colours = describe_colours(tmp_path)
    rows = [f"{name}/{shade}.png,{number + first}" for number, name in enumerate(NAMES) for shade in range(4)]
    (tmp_path / "labels.csv").write_text("\n".join(["file,label", *rows]) + "\n")
    source = {"url": str(tmp_path / "colours"), "labels_url": str(tmp_path / "labels.csv")}
    dataset = load_manifest({**colours, "format": "list", "sources": [source]})
    assert isinstance(dataset, DatasetManifest)
    model = make_seer(tmp_path, "RGB", label_offset=label_offset)
    done = replicate(model, dataset, claim=Claim("top1", "100.0", "colours"), settings=settings)
    assert done.verdict.kind == "not reproduced" and done.verdict.samples == 12
    assert any("4 of 12 samples count as wrong" in note for note in done.record.notes)
    assert done.found is not None
    assert [each.pitfalls for each in done.found.explained] == [("label-offset",)]


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


@pytest.fixture
def tied_record(
    settings: Settings, make_model: Callable[..., ModelManifest], make_pictures: Callable, make_dataset: Callable
) -> Record:
    """Of a model that knows three different scores for ten classes."""
    dataset = make_dataset(make_pictures(40, classes=10), size=40)
    return evaluate(make_model({"levels": 3, "classes": 10}), dataset, Options(timed_runs=1), settings=settings)


def test_a_claim_that_other_ties_would_reproduce_is_undecided(
    tied_record: Record, settings: Settings, make_model: Callable, make_pictures: Callable, make_dataset: Callable
) -> None:
    ties = tied_record.details["ties"]
    found = {}
    for metric, share in (
        ("top1", ties["top1"]["best"]),
        ("top5", ties["top5"]["worst"]),
        ("top1-error", 1 - ties["top1"]["best"]),
        ("top5-error", 1 - ties["top5"]["best"] + 0.2),
    ):
        claim = Claim(metric, f"{100 * share:.2f}", tied_record.plan.dataset.name)
        (verdict,), _, _ = judge_record(tied_record, claim, None, None, settings)
        found[metric] = verdict.kind, verdict.tied is not None and verdict.tied.decides
    assert found["top1"] == ("undecided", True) and found["top1-error"] == ("undecided", True)
    assert found["top5"][1] and found["top5"][0] in ("undecided", "reproduced")


def test_tie_breaking_is_a_variant_that_answers_otherwise(tied_record: Record, settings: Settings) -> None:
    with open_trials(tied_record, settings, Watcher(), ["tie-breaking"]) as trials:
        (variant,) = trials.possible
        assert variant.words == "of equal scores the highest class number first"
        samples = range(len(trials.dataset.samples))
        trials.ask([variant.plan], list(samples))
        pairs = [(trials.answer(tied_record.plan, at), trials.answer(variant.plan, at)) for at in samples]
    moved = [(one.classes[0], other.classes[0]) for one, other in pairs if one and other and one != other]
    assert moved and all(one <= other for one, other in moved)
    ((sign, line), *_) = edits_of(tied_record.plan, variant)
    assert (sign, line) == ("\N{MINUS SIGN}", "answer: {tie_breaking: lowest}")


def test_a_log_without_a_model_here_names_what_is_missing(
    tmp_path: Path, settings: Settings, log: Path, make_dataset: Callable
) -> None:
    with pytest.raises(UsageError, match="seer"):
        replicate(log=log, settings=settings)
    with pytest.raises(UsageError, match="no model is named"):
        replicate(settings=settings)


def split_colours(folder: Path) -> DatasetManifest:
    """Two splits of the same pictures."""
    found = load_manifest(
        {
            **{key: value for key, value in describe_colours(folder).items() if key != "size"},
            "splits": {"test": {"include": "[01].png", "size": 6}, "train": {"include": "[23].png", "size": 6}},
        }
    )
    assert isinstance(found, DatasetManifest)
    return found


def test_a_claim_about_another_split_stays_undecided(tmp_path: Path, settings: Settings) -> None:
    model, dataset = make_seer(tmp_path, "RGB"), split_colours(tmp_path)
    ours = replicate(model, dataset.for_split("test"), claim=Claim("top1", "100.0", "colours:test"), settings=settings)
    assert ours.verdict.kind == "reproduced" and ours.verdict.samples == 6
    other = replicate(model, dataset.for_split("test"), claim=Claim("top1", "1.0", "colours:train"), settings=settings)
    assert other.verdict.kind == "undecided" and other.verdict.stand_in == "colours:test"
    with pytest.raises(UsageError, match="colours has several splits, and none is chosen: test, train"):
        replicate(model, dataset, claim=Claim("top1", "100.0", "colours"), settings=settings)


def test_a_reference_log_keeps_its_split(tmp_path: Path, settings: Settings) -> None:
    record = evaluate(make_seer(tmp_path, "RGB"), split_colours(tmp_path).for_split("train"), settings=settings)
    store = Store(settings)
    try:
        log = write_log(record, store, tmp_path / "theirs.log.yml")[0]
    finally:
        store.close()
    model, dataset = make_seer(tmp_path, "RGB"), split_colours(tmp_path)
    done = replicate(model, dataset.for_split("train"), log=log, settings=settings)
    assert done.verdict.kind == "reproduced" and (done.verdict.claim.dataset or "").endswith(":train")
    other = replicate(model, dataset.for_split("test"), log=log, settings=settings)
    assert {each.kind for each in other.verdicts} == {"undecided"}
