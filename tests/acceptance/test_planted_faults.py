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
OFTEN = "lite0: BGR"
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
)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> planted.Ground:
    place = tmp_path_factory.mktemp("planted")
    return planted.Ground(Settings(place / "home", place / "cache", mirrors=(planted_data.SHARED / "models",)))


def chosen_faults() -> Iterator[object]:
    known = {fault.key: fault for fault in FAULTS}
    for key in CHOSEN:
        shared = [pytest.mark.shared] if BEDS[known[key].bed].needs_shared else []
        nightly = [pytest.mark.nightly] if key != OFTEN else []
        yield pytest.param(known[key], marks=shared + nightly, id=key)


def test_there_are_enough_faults_of_every_kind() -> None:
    singles = [fault for fault in FAULTS if len(fault.pitfalls) == 1]
    assert len(FAULTS) >= 60 and len(FAULTS) - len(singles) >= 10
    assert len({bed.manifest for bed in BEDS.values()}) >= 4 and len({bed.dataset for bed in BEDS.values()}) >= 2
    # What only the scores or the last digits show has no planted fault: accuracy does not see it.
    unseen = {name for name, pitfall in PITFALLS.items() if pitfall.is_about_stack}
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
    assert "| BGR | color-layout | 44.03 | 1 of 2 | color-layout | 5.6 |" in told
    assert "| third | color-layout | 44.03 | no effect | – | – |" in told
