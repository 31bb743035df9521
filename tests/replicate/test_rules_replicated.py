"""Claims about maps and pictures that do not hold: the rule, the mask or the step that differs is named."""

import pytest

from acceptance import planted
from budget import at_night_but
from mlmodelscope import Settings
from mlmodelscope.replicate.replication import is_sought, replicate

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
BEDS, FAULTS = planted.read_faults()
KNOWN = {fault.key: fault for fault in FAULTS}


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> planted.Ground:
    place = tmp_path_factory.mktemp("planted")
    return planted.Ground(Settings(place / "home", place / "cache"))


@pytest.mark.slow(reason="a search tries dozens of variants of a model")
@pytest.mark.parametrize(
    "key",
    at_night_but(
        [
            "drawn-maps: absent classes count as 0",  # a rule
            "drawn-maps: masks taken to count from 0",  # the dataset's labels
            "drawn-maps: classes plus one",  # what the worker calls a class
            "drawn-pictures: a range of 1",
            "drawn-squares-voc: difficult things counted",
        ],
        "drawn-maps: masks taken to count from 0",
        "drawn-squares-voc: difficult things counted",
    ),
)
def test_what_differs_is_named_first(key: str, ground: planted.Ground) -> None:
    fault = KNOWN[key]
    outcome = ground.try_fault(BEDS[fault.bed], fault)
    assert outcome.counts and outcome.rank == 1


@pytest.mark.slow(reason="a search tries dozens of variants of a model")
def test_a_number_that_is_better_by_another_rule_is_explained(ground: planted.Ground) -> None:
    bed = BEDS["drawn-pictures"]
    fault = planted.Fault(
        "drawn-pictures", "a range of 510", ("data-range",), (("border: 2", "border: 2, data_range: 510"),)
    )
    outcome = ground.try_fault(bed, fault)
    assert outcome.verdict == "better than claimed" and outcome.rank == 1


def test_a_claim_that_holds_needs_no_cause(ground: planted.Ground) -> None:
    bed = BEDS["drawn-maps-accuracy"]
    claim = ground.claim(bed)
    dataset = planted.planted_data.find(bed.dataset, ground.settings)
    done = replicate(bed.manifest_with(), dataset, bed.options(), claim=claim, settings=ground.settings)
    assert done.verdict.kind == "reproduced" and not is_sought(done.verdict) and done.found is None


@pytest.mark.slow(reason="a search tries dozens of variants of a model")
def test_a_claim_that_is_too_high_gets_no_cause(ground: planted.Ground) -> None:
    bed = BEDS["drawn-pictures"]
    fault = planted.Fault("drawn-pictures", "too high", (), (), too_high=0.08)
    outcome = ground.try_fault(bed, fault)
    assert outcome.said in ("nothing", "compatible")
