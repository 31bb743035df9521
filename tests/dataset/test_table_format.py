"""Tables whose rows are samples."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mlmodelscope.dataset.lines import LONGEST_LINE
from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError

Open = Callable[..., Dataset]
Write = Callable[..., Path]

REVIEWS = {"text": "review", "target": "mood"}
ROWS = [{"review": "good, really", "mood": "happy"}, {"review": "bad", "mood": "sad"}]


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def read(open_as: Open, file: Path, task: str, columns: dict[str, Any], **fields: Any) -> Dataset:
    return open_as("table", file, task=task, columns=columns, **fields)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("t.csv", 'review,mood\n"good, really",happy\nbad,sad\n'),
        ("t.tsv", "review\tmood\ngood, really\thappy\nbad\tsad\n"),
        ("table", "review;mood\r\ngood, really;happy\r\n\r\nbad;sad"),
        ("t.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS)),
        ("t.json", json.dumps(ROWS, indent=1)),
        ("u.json", json.dumps({"version": 1, "data": ROWS})),
        ("v.json", "\n".join(map(json.dumps, ROWS))),
        ("bom.csv", '\ufeffreview,mood\n"good, really",happy\nbad,sad\n'),
    ],
)
def test_every_kind_of_table_gives_the_same_samples(write: Write, open_as: Open, name: str, body: str) -> None:
    found = read(open_as, write({name: body}) / name, "text_classification", REVIEWS)
    assert [sample.content["parts"]["text"]["text"] for sample in found.samples] == ["good, really", "bad"]
    assert found.classes == ["happy", "sad"] and [sample.target for sample in found.samples] == [0, 1]
    assert [sample.id for sample in found.samples] == ["00000", "00001"]


def test_parquet_gives_the_same_samples(write: Write, open_as: Open, tmp_path: Path) -> None:
    table = read(open_as, parquet(tmp_path / "t.parquet", ROWS), "text_classification", REVIEWS)
    lines = read(
        open_as, write({"t.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS)}) / "t.jsonl", "general", REVIEWS
    )
    assert [each.digest for each in table.samples] == [each.digest for each in lines.samples]
    assert [each.target for each in table.samples] == [0, 1]


def test_columns_of_a_table_without_a_header_are_numbers(write: Write, open_as: Open) -> None:
    file = write({"sts.csv": "a cat,the cat,4.5\nno,yes,0\n"}) / "sts.csv"
    columns = {"text": 0, "text_pair": 1, "target": 2}
    found = read(open_as, file, "text_similarity", columns, header=False)
    assert [each.target for each in found.samples] == [{"values": [4.5]}, {"values": [0.0]}]
    assert found.samples[0].content["parts"] == {"text": {"text": "a cat"}, "text_pair": {"text": "the cat"}}


def test_quotation_marks_are_text_where_the_manifest_says_so(write: Write, open_as: Open) -> None:
    file = write({"t.tsv": 'review\tmood\n"oh" he said\t1\n"never closed\t0\n'}) / "t.tsv"
    found = read(open_as, file, "text_classification", REVIEWS, quoting=False)
    assert found.samples[1].content["parts"]["text"]["text"] == '"never closed'


def test_labels_are_numbers_less_the_offset_or_names_in_the_classes_file(write: Write, open_as: Open) -> None:
    folder = write({"n.csv": "review,mood\na,1\nb,2.0\n", "w.csv": "review,mood\na,cat\n", "classes": "dog\ncat\n"})
    numbers = read(open_as, folder / "n.csv", "text_classification", REVIEWS, rule={"offset": 1})
    words = read(open_as, folder / "w.csv", "text_classification", REVIEWS, classes=folder / "classes")
    assert [each.target for each in numbers.samples] == [0, 1] and words.samples[0].target == 1


@pytest.mark.parametrize(
    ("task", "columns", "cells", "target"),
    [
        ("regression", {"text": "a", "target": "b"}, {"a": "x", "b": 2}, {"values": [2.0]}),
        (
            "tabular_regression",
            {"text": "a", "target": ["b", "c"]},
            {"a": "x", "b": 2, "c": "3.5"},
            {"values": [2.0, 3.5]},
        ),
        (
            "translation",
            {"text": "a", "target": ["b", "c"]},
            {"a": "x", "b": "hi", "c": "hey"},
            {"texts": ["hi", "hey"]},
        ),
        ("summarization", {"text": "a", "target": "b"}, {"a": "x", "b": ["one", "two"]}, {"texts": ["one", "two"]}),
        ("question_answering", {"text": "a", "target": "b"}, {"a": "x", "b": []}, {"texts": [], "impossible": True}),
        (
            "anomaly_detection",
            {"text": "a", "target": "b", "group": "c"},
            {"a": "x", "b": 1, "c": "pump"},
            {"anomaly": 1, "group": "pump"},
        ),
        ("recommendation", {"text": "a", "target": "b"}, {"a": "x", "b": {"3": 2}}, {"relevant": {"3": 2.0}}),
        (
            "embedding",
            {"id": "i", "text": "a", "role": "r", "target": "b"},
            {"i": "q1", "a": "x", "r": "query", "b": "d1:2 d7"},
            {"role": "query", "id": "q1", "relevant": {"d1": 2.0, "d7": 1.0}},
        ),
        (
            "embedding",
            {"id": "i", "text": "a", "role": "r", "target": "b"},
            {"i": "d1", "a": "x", "r": "document", "b": None},
            {"role": "document", "id": "d1"},
        ),
        (
            "time_series_forecasting",
            {"features": ["a"], "target": "b", "history": ["h"], "season": 12},
            {"a": 1, "b": [3, 4], "h": [1, 2]},
            {"values": [3.0, 4.0], "history": [1.0, 2.0], "season": 12},
        ),
        (
            "token_classification",
            {"text": "a", "target": "b"},
            {"a": ["Ann", "Lee", "ran"], "b": ["B-PER", "I-PER", "O"]},
            {"spans": [[0, 7, "PER"]], "tokens": [[0, 3], [4, 7], [8, 11]], "text": "Ann Lee ran"},
        ),
        ("general", {"text": "a"}, {"a": "x"}, None),
    ],
)
def test_the_task_decides_what_is_true_of_a_row(
    write: Write, open_as: Open, task: str, columns: dict[str, Any], cells: dict[str, Any], target: Any
) -> None:
    file = write({"t.jsonl": json.dumps(cells)}) / "t.jsonl"
    assert read(open_as, file, task, columns).samples[0].target == target


def test_features_are_numbers_words_or_missing(write: Write, open_as: Open) -> None:
    file = write({"t.csv": "age,city,zip,y\n31,Rome,007,1\n,Paris,x1,0\n4.5,NaN,9,1\n"}) / "t.csv"
    found = read(open_as, file, "tabular_classification", {"features": "*", "target": "y"})
    cells = [each.content["parts"]["columns"]["cells"] for each in found.samples]
    assert cells == [
        {"age": 31, "city": "Rome", "zip": "007"},
        {"age": None, "city": "Paris", "zip": "x1"},
        {"age": 4.5, "city": None, "zip": "9"},
    ]


def test_a_source_is_a_group_and_a_pattern_finds_anomalies_in_ids(write: Write, open_as: Open) -> None:
    folder = write({"1.csv": "normal_1.wav,0.5\n", "2.csv": "anomaly_1.wav,0.9\n"})
    sources = [("m1", folder / "1.csv"), ("m2", folder / "2.csv")]
    columns = {"id": 0, "features": [1]}
    rule = {"pattern": "^(anomaly|normal)"}
    found = open_as("table", sources, task="anomaly_detection", columns=columns, header=False, rule=rule)
    assert [each.target for each in found.samples] == [{"anomaly": 0, "group": "m1"}, {"anomaly": 1, "group": "m2"}]


def test_a_table_names_sound_files_and_pieces_of_them(write: Write, open_as: Open) -> None:
    folder = write({"s/a.wav": b"RIFF", "t.csv": "file,at,long,said\na.wav,0,1.5,hi\na.wav,1.5,2,you\n"})
    columns = {"audio": "file", "start": "at", "seconds": "long", "target": "said"}
    found = open_as("table", folder / "s", folder / "t.csv", task="speech_recognition", columns=columns)
    pieces = [each.content["parts"]["audio"] for each in found.samples]
    assert [(each["start"], each["seconds"]) for each in pieces] == [(0.0, 1.5), (1.5, 2.0)]
    assert len({each.digest for each in found.samples}) == 2


BROKEN = {
    "not UTF-8": (b"review,mood\ngood,1\n\xff\xfe,0\n", "line 3 of t.csv is not UTF-8 text"),
    "empty": (b"", "t.csv is empty"),
    "only a header": (b"review,mood\n", "t.csv has no rows"),
    "one line without an end": (b"review,mood\n" + b"x" * (10 << 20), "line 2 of t.csv is longer than 4 MiB"),
    "no such column": (b"text,mood\na,1\n", "line 2 of t.csv has no column `review`; it has text, mood"),
    "ragged": (b"review,mood\na,1\nb\n", "line 3 of t.csv has 1 cells, the first line has 2"),
    "two columns of a name": (b"review,mood,mood\na,1,2\n", "two columns called `mood`"),
    "a label is missing": (b"review,mood\na,\n", "line 2 of t.csv has no class"),
    "nul": (b"review,mood\na\x00b,1\nb,1,2\n", "line 3 of t.csv"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_with_a_table_is_said_with_its_line(write: Write, open_as: Open, case: str) -> None:
    body, said = BROKEN[case]
    with pytest.raises(DatasetError, match=said):
        read(open_as, write({"t.csv": body}) / "t.csv", "text_classification", REVIEWS)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"review": "a", "mood": NaN}', "line 2 of t.jsonl has a value that is not a finite number"),
        ('{"review": "a", "mood": 1e999}', "not a finite number"),
        ('{"review": "a", "mood": "ten"}', "not a finite number: 'ten'"),
        ('{"review": "a"}', "line 2 of t.jsonl has no column `mood`"),
        ('{"review": 3, "mood": 1}', "line 2 of t.jsonl has 3 in place of a text"),
        ('{"review": "\\ud800", "mood": 1}', "half of a character"),
        ('{"review": "a", "mood": ' + "9" * 5000 + "}", "line 2 of t.jsonl is not valid JSON"),
        ('{"review": "a", "review": "b", "mood": 1}', "`review` appears twice"),
        ("[" * 100_000, "line 2 of t.jsonl is nested too deeply"),
        ("[1]", "line 2 of t.jsonl is not an object"),
        ("{", "line 2 of t.jsonl is not valid JSON"),
    ],
)
def test_what_is_wrong_with_a_line_of_json_is_said(write: Write, open_as: Open, line: str, said: str) -> None:
    file = write({"t.jsonl": '{"review": "fine", "mood": 1}\n' + line + "\n"}) / "t.jsonl"
    with pytest.raises(DatasetError, match=said):
        read(open_as, file, "regression", REVIEWS)


@pytest.mark.parametrize(("ids", "said"), [("a,a", "line 3 of t.csv has the id `a`"), ("a,", "line 3 .* no id")])
def test_ids_are_there_and_differ(write: Write, open_as: Open, ids: str, said: str) -> None:
    first, second = ids.split(",")
    file = write({"t.csv": f"id,review,mood\n{first},x,1\n{second},y,0\n"}) / "t.csv"
    with pytest.raises(DatasetError, match=said):
        read(open_as, file, "text_classification", {"id": "id", **REVIEWS})


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../secret.wav", "a/../../secret.wav", "C:\\x.wav", "out.wav", "", "no.wav"]
)
def test_sounds_lie_below_the_folder(write: Write, open_as: Open, name: str) -> None:
    folder = write({"s/a.wav": b"RIFF", "secret.wav": b"RIFF", "t.csv": f"file,said\n{name},hi\n"})
    (folder / "s" / "out.wav").symlink_to(folder / "secret.wav")
    with pytest.raises(DatasetError, match=r"line 2 of t.csv names (a file outside|no file|the file)"):
        open_as("table", folder / "s", folder / "t.csv", task="speech_recognition", columns={"audio": 0, "target": 1})


def test_a_parquet_file_that_is_none_is_refused(write: Write, open_as: Open) -> None:
    file = write({"t.parquet": b"PAR1" + bytes(100)}) / "t.parquet"
    with pytest.raises(DatasetError, match="t.parquet is not a Parquet file that can be read"):
        read(open_as, file, "text_classification", REVIEWS)


def test_a_missing_column_of_a_parquet_file_is_named(open_as: Open, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="row 1 of t.parquet has no column `mood`"):
        read(open_as, parquet(tmp_path / "t.parquet", [{"review": "a", "x": 1}]), "text_classification", REVIEWS)


def test_a_long_cell_of_a_parquet_file_is_refused(open_as: Open, tmp_path: Path) -> None:
    column = pa.array(["x" * (LONGEST_LINE + 1)] * 2)
    pq.write_table(pa.table({"review": column, "mood": [1, 1]}), tmp_path / "t.parquet", compression="zstd")
    assert (tmp_path / "t.parquet").stat().st_size < 100_000
    with pytest.raises(DatasetError, match="row 1 of t.parquet takes more than 4 MiB"):
        read(open_as, tmp_path / "t.parquet", "text_classification", REVIEWS)


def test_a_parquet_file_of_gigabytes_in_a_few_bytes_is_refused(open_as: Open, tmp_path: Path) -> None:
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 5000, pa.int32()), pa.array(["x" * (2 << 20)]))
    pq.write_table(pa.table({"review": words, "mood": [1] * 5000}), tmp_path / "t.parquet", store_schema=False)
    assert (tmp_path / "t.parquet").stat().st_size < 1 << 20
    with pytest.raises(DatasetError, match="t.parquet (cannot be read: it takes|takes) more than"):
        read(open_as, tmp_path / "t.parquet", "text_classification", REVIEWS)


def test_a_table_without_columns_asks_for_them(write: Write, open_as: Open) -> None:
    with pytest.raises(DatasetError, match="does not say which columns"):
        open_as("table", write({"t.csv": "a,b\n1,2\n"}) / "t.csv", task="text_classification")
    with pytest.raises(DatasetError, match="is a folder, and a file is needed"):
        read(open_as, write({"t.csv": "a,b\n1,2\n"}), "text_classification", REVIEWS)


@pytest.mark.parametrize("word", ["1e999", "-1e999"])
def test_a_number_beyond_all_floats_is_refused(write: Write, open_as: Open, word: str) -> None:
    """CSV has it as text; JSON refuses it, and a tensor would have infinity."""
    folder = write({"t.csv": f"x,y\n1,0\n{word},1\n"})
    columns = {"features": ["x"], "target": "y"}
    with pytest.raises(DatasetError, match=r"line 3 of t\.csv has .* in the column `x`, which is beyond all floats"):
        read(open_as, folder / "t.csv", "tabular_classification", columns)
