"""From an author's word to a class number, without guessing."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlmodelscope.dataset.classes import class_words, read_classes, to_number
from mlmodelscope.errors import DatasetError

Read = Callable[[str], list[str]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def run(text: str) -> list[str]:
        (tmp_path / "0123abcd").write_text(text)
        return read_classes(tmp_path / "0123abcd", "classes.txt")

    return run


@pytest.mark.parametrize(
    "text",
    [
        "cat\ndog\n",
        "\ufeffcat\r\ndog\r\n\r\n",
        '["cat", "dog"]',
        '{"0": "cat", "1": "dog"}',
        '{"1": "dog", "0": "cat"}',
        '{"dog": 1, "cat": 0}',
    ],
)
def test_every_way_to_list_classes_is_read(read: Read, text: str) -> None:
    assert read(text) == ["cat", "dog"]


def test_synset_and_name_become_one_line(read: Read) -> None:
    assert read('{"0": ["n01440764", "tench"]}') == ["n01440764 tench"]


def test_an_empty_line_is_a_class_without_a_name(read: Read) -> None:
    """Its line number is a class's number: to leave it out would shift all classes after it."""
    assert read("background\n\ncat\n") == ["background", "", "cat"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"1": "cat", "2": "dog"}', "does not number its 2 classes from 0 to 1"),
        ('{"0": "cat", "2": "dog"}', "does not number its 2 classes from 0 to 1"),
        ('{"cat": 1, "dog": 2}', "does not number its 2 classes"),
        ('{"cat": "x", "1": "dog"}', "maps neither"),
        ('[{"name": "cat"}]', "where a class name should be"),
        ("[[]]", "where a class name should be"),
        ("[null]", "where a class name should be"),
        ("[oops", "classes.txt is not valid JSON"),
    ],
)
def test_a_list_that_would_shift_or_blur_classes_is_refused(read: Read, text: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        read(text)


def test_a_class_may_be_called_by_its_line_or_its_first_word() -> None:
    words = class_words(["n01440764 tench, Tinca tinca", "n01443537, goldfish"])
    assert words["n01440764"] == words["n01440764 tench, Tinca tinca"] == 0
    assert words["n01443537"] == 1


def test_a_name_that_two_classes_share_is_not_guessed() -> None:
    words = class_words(["crane", "cat", "crane", "great auk", "great owl"])
    assert to_number("cat", words, 0, "x.jpg") == 1
    for word in ("crane", "great"):
        with pytest.raises(DatasetError, match=f"label `{word}` of the sample `x.jpg` is the name of several classes"):
            to_number(word, words, 0, "x.jpg")


@pytest.mark.parametrize("word", [3, "3", "3.0", "3.", 3.0, " 3 ", "+3", "003"])
def test_a_whole_number_has_many_spellings(word: str | int | float) -> None:
    assert to_number(word, {}, 0, "x") == 3
    assert to_number(word, {}, 1, "x") == 2


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (None, "the sample `x.jpg` has no label"),
        ("", "the sample `x.jpg` has no label"),
        ("cat", "label `cat` of the sample `x.jpg` is neither a whole number nor a known class"),
        ("3.5", "neither a whole number"),
        (3.5, "neither a whole number"),
        (float("nan"), "neither a whole number"),
        (float("inf"), "neither a whole number"),
        (True, "neither a whole number"),
        ("1_000", "neither a whole number"),
        ("1e3", "neither a whole number"),
        ("9" * 5000, "neither a whole number"),
        ("9" * 18, "lies beyond any number of classes"),
        (10**30, "lies beyond any number of classes"),
        (-1, "label -1 of the sample `x.jpg` lies below the offset 0"),
        ([1], "neither a whole number"),
        ({"a": 1}, "neither a whole number"),
    ],
)
def test_what_is_no_label_names_the_sample(word: object, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        to_number(word, {}, 0, "x.jpg")  # type: ignore[arg-type]


def test_a_label_beyond_the_last_class_suggests_the_offset() -> None:
    with pytest.raises(
        DatasetError, match="label 1000 of the sample `x.jpg` lies beyond the last of 1000 classes"
    ) as no:
        to_number(1000, {}, 0, "x.jpg", classes=1000)
    assert "offset: 1" in (no.value.hint or "")
    assert to_number(1000, {}, 1, "x.jpg", classes=1000) == 999


def test_a_label_below_the_offset_is_refused() -> None:
    with pytest.raises(DatasetError, match="label 0 of the sample `x.jpg` lies below the offset 1"):
        to_number("0", {}, 1, "x.jpg")


@given(st.integers(0, 10**6), st.integers(0, 100))
def test_the_offset_is_subtracted_and_nothing_else(number: int, offset: int) -> None:
    assert to_number(str(number + offset), {}, offset, "x") == number


@given(st.text(max_size=20))
def test_any_word_gives_a_number_or_our_error(word: str) -> None:
    with contextlib.suppress(DatasetError):
        assert to_number(word, {}, 0, "x") >= 0
