"""The journal keeps every finished batch, whatever happens to the process."""

from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from budget import tries
from mlmodelscope.record.journal import Journal
from mlmodelscope.worker.answers import Answers


def entry(batch: int, text: str = "") -> Answers:
    content = {"form": "classes", "k": 2, "improbable": 0, "ties": {}}
    return Answers(batch, {1: text} if text else {}, 1000 + batch, content, (bytes(range(8)), bytes(range(8, 16))))


def test_what_was_appended_is_there_after_opening_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", "plan")
    journal.append(entry(0))
    journal.append(entry(1, "grün"))
    journal.close()
    again = Journal(tmp_path / "journal", "plan")
    assert again.batches == 2
    assert list(again.entries()) == [entry(0), entry(1, "grün")]
    again.close()


def test_answers_of_any_form_are_kept(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", "plan")
    tied = replace(entry(0), content={"form": "classes", "k": 2, "improbable": 0, "ties": {"0": [[5, 9], [12, 12]]}})
    texts = Answers(1, {}, 5, {"form": "texts", "texts": ["[1]", '"é"']})
    failed = Answers(2, {0: "why", 1: "why"}, 0)
    many = Answers(3, {}, 5, {"form": "arrays"}, (b"a", b"", b"ccc"))
    for each in (tied, texts, failed, many):
        journal.append(each)
    assert list(journal.entries()) == [tied, texts, failed, many]
    assert tied.rows[0].tied == ((5, 9), (12, 12)) and texts.rows == ["[1]", '"é"'] and failed.rows == []
    journal.close()


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
