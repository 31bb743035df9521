"""`replicate` names what is wrong with a manifest: one fault in every run, one of each bed nightly.

`make acceptance` tries them all.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from acceptance import planted, planted_data
from acceptance.planted_results import line, page, read, summary
from mlmodelscope import Settings
from mlmodelscope.errors import ArtifactError, StackError
from mlmodelscope.replicate.pitfall import PITFALLS

BEDS, FAULTS = planted.read_faults()
# One of each bed, and two at once; those of `lite0` need only what the product ships or fetches by itself.
OFTEN = ("lite0: BGR", "drawn-int8-small: bytes wrapped around")
CHOSEN = (
    "lite0: BGR",
    "lite0: values from 0 to 255",
    "lite0-turned: orientation not applied",
    "squeezenet: BGR",
    "resnet20: values from -1 to 1",
    "mnist: height and width swapped",
    "coral: background forgotten",
    "coral-small: zero point 0",
    "coral: BGR, background forgotten",
    "drawn-int8-small: bytes wrapped around",
    "drawn-int8: classes in another order",
    "drawn-uint8: BGR and the zero point forgotten",
    "drawn-caffe: mean for RGB",
    "resnet20: BGR and CIFAR-10's mean and deviation",
)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> planted.Ground:
    place = tmp_path_factory.mktemp("planted")
    return planted.Ground(Settings(place / "home", place / "cache", mirrors=(planted_data.SHARED / "models",)))


def chosen_faults() -> Iterator[object]:
    known = {fault.key: fault for fault in FAULTS}
    for key in CHOSEN:
        shared = [pytest.mark.shared] if BEDS[known[key].bed].needs_shared else []
        nightly = [pytest.mark.nightly] if key not in OFTEN else []
        yield pytest.param(known[key], marks=shared + nightly, id=key)


def test_there_are_enough_faults_of_every_kind() -> None:
    singles, pairs, claims = ([fault for fault in FAULTS if len(fault.pitfalls) == count] for count in (1, 2, 0))
    assert len(singles) >= 100 and len(pairs) >= 20 and len(claims) >= 10
    assert len({bed.manifest for bed in BEDS.values()}) >= 4 and len({bed.dataset for bed in BEDS.values()}) >= 2
    # What only the scores or the last digits show has no planted fault: accuracy does not see it.
    unseen = {name for name, pitfall in PITFALLS.items() if pitfall.is_about_stack}
    # Those of boxes are planted in tests/test_detectors_evaluated.py.
    unseen |= {name for name, pitfall in PITFALLS.items() if pitfall.edits.__module__.endswith(".boxes")}
    # Those of tables are planted in tests/replicate/test_table_pitfalls.py.
    unseen |= {name for name, pitfall in PITFALLS.items() if pitfall.edits.__module__.endswith(".tables")}
    # Those of texts and sounds that no bed here can show are looked at in tests/replicate/test_*_pitfalls.py.
    elsewhere = (".tagging", ".vectors", ".scoring")
    unseen |= {
        name
        for name, each in PITFALLS.items()
        if each.edits.__module__.endswith(elsewhere) or {"text", "audio", "document"} & set(each.parts)
    }
    unseen |= {"split"}  # other samples have other answers: there is nothing to try
    unseen |= {"map-threshold"}  # no bed gives one score for each pixel
    assert {name for fault in FAULTS for name in fault.pitfalls} >= PITFALLS.keys() - unseen


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.key)
def test_every_fault_is_a_manifest_that_can_be_read(fault: planted.Fault) -> None:
    bed = BEDS[fault.bed]
    wrong = bed.manifest_with(fault.change, fault.name)
    assert (wrong.digest == bed.manifest_with().digest) == (not fault.change)
    assert set(fault.pitfalls) <= PITFALLS.keys()


@pytest.mark.slow(reason="a search tries dozens of variants of a real model")
@pytest.mark.parametrize("fault", list(chosen_faults()))
def test_the_fault_is_named_first(fault: planted.Fault, ground: planted.Ground) -> None:
    bed = BEDS[fault.bed]
    if bed.needs_shared and not planted_data.SHARED.is_dir():
        pytest.skip("the development data folder is not here")
    try:
        outcome = ground.try_fault(bed, fault)
    except (ArtifactError, StackError) as error:
        pytest.skip(f"it cannot be fetched or built here: {error.message}")
    assert outcome.counts and outcome.rank == 1, line(outcome)


def test_what_was_found_is_kept_and_told(tmp_path: Path) -> None:
    def outcome(name: str, verdict: str, rank: int | None, tied: int) -> planted.Outcome:
        named = (("color-layout", "RGB instead of BGR: 63.50 of 293"),)
        return planted.Outcome(
            name, "squeezenet", ("color-layout",), "63.5", 44.03, verdict, rank, tied, named, 53, 5.6, 27.0
        )

    found = [
        outcome("BGR", "not reproduced", 1, 2),
        outcome("other", "not reproduced", None, 0),
        outcome("third", "reproduced", None, 0),
    ]
    file = tmp_path / "found.jsonl"
    for each in found:
        planted.keep(each, file)
    assert read(file) == found
    assert "first in 1 of 2 (50.0 %; alone in 0), among the first three in 1 (50.0 %)" in " ".join(summary(found))
    told = page(BEDS, found)
    assert "| BGR | color-layout | 44.03 | 1 of 2 | color-layout | nothing | 5.6 |" in told
    assert "| third | color-layout | 44.03 | no effect | – | – | – |" in told


def test_a_cause_that_is_named_for_a_claim_that_is_too_high_is_told() -> None:
    named = (("cropping", "the centre 95 %: 63.80 of 293"),)
    found = [
        planted.Outcome(
            "too high", "squeezenet", (), "63.8", 63.5, "not reproduced", None, 0, named, 53, 5.6, 27.0, said=said
        )
        for said in ("explains", "compatible")
    ]
    assert next(iter(summary(found))).endswith("a cause is named in 1 of them")
    told = page(BEDS, found, made="On some day.")
    assert "| squeezenet | 63.8 | 63.50 | not reproduced | cropping | 5.6 |" in told
    assert "| squeezenet | 63.8 | 63.50 | not reproduced | nothing | 5.6 |" in told and "On some day." in told
