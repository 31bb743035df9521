"""Label files as people write them, and what is wrong with some."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlmodelscope.dataset.labels import read_labels
from mlmodelscope.dataset.sample import NamedFile, Word
from mlmodelscope.errors import DatasetError
from mlmodelscope.manifest.schema import Labels

NAMES = ["a.jpg", "b.jpg", "sub/c.jpg"]
Read = Callable[..., list[Word | None]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Labels of the three samples from a text; the file lies in a cache, so that its path tells nothing."""

    def run(text: str | bytes, name: str = "labels", names: list[str] = NAMES, **rule: str) -> list[Word | None]:
        (tmp_path / "0123abcd").write_bytes(text.encode() if isinstance(text, str) else text)
        return read_labels(NamedFile(tmp_path / "0123abcd", name), Labels(**rule), names)

    return run


JSON_LINES = '{"file": "a.jpg", "label": 1}\n{"file": "b.jpg", "label": 2}\n\n{"file": "c.jpg", "label": 3}\n'


@pytest.mark.parametrize(
    "text",
    [
        "1\n2\n3\n",
        "1\r\n2\r\n3",
        "\ufeff1\n2\n3\n\n\n",
        "  1\n\t2\n3  ",
        "a.jpg 1\nb.jpg 2\nsub/c.jpg 3\n",
        "sub/c.jpg\t3\nb.jpg\t2\na.jpg\t1\n",
        "./a.jpg 1\nb.jpg 2\nsub\\c.jpg 3",
        "file,label\na.jpg,1\nb.jpg,2\nc.jpg,3\n",
        "\ufefffile,label\r\na.jpg,1\r\nb.jpg,2\r\nsub/c.jpg,3\r\n",
        'label, file, note\n1, a.jpg, "x, y"\n2, "b.jpg", z\n3, sub/c.jpg,\n',
        "file;label\na.jpg;1\nb.jpg;2\nc.jpg;3",
        "file\tlabel\na.jpg\t1\nb.jpg\t2\nc.jpg\t3",
        "file,label\na,1\nb,2\nc,3",
        JSON_LINES,
        JSON_LINES.replace("\n", "\r\n"),
        "[1, 2, 3]",
        '["1", "2", "3"]',
        '{"a.jpg": 1, "b.jpg": 2, "c.jpg": 3}',
        '{\n  "a.jpg": 1,\n  "b.jpg": 2,\n  "sub/c.jpg": 3\n}',
        '[{"file": "a.jpg", "label": 1}, {"file": "b.jpg", "label": 2}, {"file": "c.jpg", "label": 3}]',
    ],
)
def test_every_way_to_write_labels_down_is_read(read: Read, text: str) -> None:
    assert list(map(str, read(text))) == ["1", "2", "3"]


def test_columns_may_have_other_names(read: Read) -> None:
    text = "path,id,class\na.jpg,9,1\nb.jpg,9,2\nc.jpg,9,3\n"
    assert read(text, file_column="path", label_column="class") == ["1", "2", "3"]
    with pytest.raises(DatasetError, match="labels has no columns `file` and `label`; it has path, id, class"):
        read(text)


def test_a_single_line_of_json_lines_is_a_sample(read: Read) -> None:
    assert read('{"file": "a.jpg", "label": 1}', names=["a.jpg"]) == [1]


def test_a_table_without_its_first_line_is_explained(read: Read) -> None:
    with pytest.raises(DatasetError, match="it has a.jpg, 1") as refusal:
        read("a.jpg,1\nb.jpg,2\n")
    assert "first line names the columns" in (refusal.value.hint or "")


def test_names_may_have_spaces_and_commas(read: Read) -> None:
    names = ["my cat, 1.jpg", "my dog.jpg"]
    assert read("my cat, 1.jpg 1\nmy dog.jpg 2".replace(",", ""), names=["my cat 1.jpg", "my dog.jpg"]) == ["1", "2"]
    assert read('file,label\n"my cat, 1.jpg",1\nmy dog.jpg,2\n', names=names) == ["1", "2"]


def test_class_names_of_several_words_may_stand_in_order(read: Read) -> None:
    assert read("golden retriever\ntabby cat\ngrey parrot\n") == ["golden retriever", "tabby cat", "grey parrot"]


@pytest.mark.parametrize("text", ["1\n2\n", "1\n2\n3\n4\n", "[1, 2]", "[]", "", "\n\n"])
def test_more_or_fewer_labels_than_samples_are_counted(read: Read, text: str) -> None:
    with pytest.raises(DatasetError, match=r"labels has \d labels for 3 samples"):
        read(text)


def test_an_empty_line_does_not_shift_the_others(read: Read) -> None:
    assert read("1\n\n3\n") == ["1", "", "3"]


def test_a_sample_without_a_label_has_none(read: Read) -> None:
    assert read("file,label\na.jpg,1\nb.jpg\n") == ["1", None, None]
    assert read("a.jpg 1\nb.jpg\n") == ["1", None, None]


def test_labels_of_files_that_are_elsewhere_do_not_matter(read: Read) -> None:
    assert read("file,label\nz.jpg,9\na.jpg,1\nb.jpg,2\nc.jpg,3") == ["1", "2", "3"]


@pytest.mark.parametrize(
    "text",
    [
        "a.jpg 1\na.jpg 2\n",
        "file,label\na.jpg,1\n./a.jpg,2",
        '{"a.jpg": 1, "a.jpg": 2}',
        JSON_LINES * 2 + '{"file": "a.jpg", "label": 2}',
    ],
)
def test_two_labels_for_one_sample_are_refused(read: Read, text: str) -> None:
    with pytest.raises(DatasetError, match="a.jpg` (two labels|appears twice)|two labels"):
        read(text)


def test_a_bare_name_that_two_samples_share_labels_neither(read: Read) -> None:
    names = ["cat/1.jpg", "dog/1.jpg"]
    assert read("1.jpg 5\n", names=names) == [None, None]
    assert read("cat/1.jpg 5\ndog/1.jpg 6\n", names=names) == ["5", "6"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n2\n\xff3".encode("latin-1"), "labels is not UTF-8 text"),
        ("1\n2\n3\n".encode("utf-16"), "labels is not UTF-8 text"),
        ("[1, 2", "labels is not valid JSON"),
        (JSON_LINES + "{oops\n", "line 5 of labels is not valid JSON"),
        ("[" * 100_000, "labels is nested too deeply|not valid JSON"),
        ("file,label\na.jpg," + "x" * 200_000, "labels is not a table"),
        ('[{"file": "a.jpg"}, {"label": 3}]', "has no columns"),
    ],
)
def test_a_damaged_file_is_named(read: Read, text: str | bytes, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        read(text)


@given(st.lists(st.integers(0, 999), min_size=1, max_size=30), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_table_says_what_its_rows_say_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, labels: list[int], end: str, is_marked: bool
) -> None:
    names = [f"{number}.jpg" for number in range(len(labels))]
    rows = [f"{name},{label}" for name, label in zip(names, labels, strict=True)]
    path = tmp_path_factory.mktemp("labels") / "labels.csv"
    path.write_bytes((b"\xef\xbb\xbf" if is_marked else b"") + end.join(["file,label", *reversed(rows)]).encode())
    assert read_labels(NamedFile(path, path.name), Labels(), names) == [str(label) for label in labels]


@given(st.binary(max_size=200))
def test_any_bytes_give_labels_or_our_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("labels") / "labels"
    path.write_bytes(data)
    with contextlib.suppress(DatasetError):
        read_labels(NamedFile(path, "labels"), Labels(), NAMES)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["file", "label", "a.jpg"]), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_any_json_gives_labels_or_our_error(tmp_path_factory: pytest.TempPathFactory, data: object) -> None:
    path = tmp_path_factory.mktemp("labels") / "labels"
    path.write_text(json.dumps(data))
    with contextlib.suppress(DatasetError):
        read_labels(NamedFile(path, "labels"), Labels(), NAMES)
