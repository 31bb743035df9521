"""The journal keeps every finished batch, whatever happens to the process."""

from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from budget import tries
from mlmodelscope.record.journal import Journal
from mlmodelscope.worker.answers import Answers


def entry(batch: int, text: str = "") -> Answers:
    return Answers(batch, 2, bytes(range(8)), bytes(range(8, 16)), {1: text} if text else {}, 1000 + batch, 0)


def test_what_was_appended_is_there_after_opening_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", "plan")
    journal.append(entry(0))
    journal.append(entry(1, "grün"))
    journal.close()
    again = Journal(tmp_path / "journal", "plan")
    assert again.batches == 2
    assert list(again.entries()) == [entry(0), entry(1, "grün")]
    again.close()


def test_ties_are_kept_and_older_journals_have_none(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", "plan")
    tied = replace(entry(0), ties={1: ((5, 9), (12, 12))})
    journal.append(tied)
    journal.append(entry(1))  # written as it was before ties were counted
    assert list(journal.entries()) == [tied, entry(1)]
    journal.close()
    assert b"ties" not in (tmp_path / "journal").read_bytes().split(b'"batch":1')[1]


def test_the_journal_of_another_plan_is_not_believed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", "plan")
    journal.append(entry(0))
    journal.close()
    other = Journal(tmp_path / "journal", "another plan")
    assert other.batches == 0
    other.close()


@settings(max_examples=tries(30, 1000))
@given(cut=st.integers(0, 600), garbage=st.binary(max_size=20))
def test_a_journal_cut_anywhere_keeps_its_whole_batches_and_goes_on(
    tmp_path_factory: object, cut: int, garbage: bytes
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal"  # type: ignore[attr-defined]
    journal = Journal(path, "plan")
    for batch in range(4):
        journal.append(entry(batch))
    journal.close()
    path.write_bytes(path.read_bytes()[:cut] + garbage)
    again = Journal(path, "plan")
    kept = again.batches
    assert kept <= 4
    for batch in range(kept, 6):
        again.append(entry(batch))
    assert list(again.entries()) == [entry(batch) for batch in range(6)]
    again.close()
