"""CSV and JSON hold every sample, whatever its name."""

import csv
import io
import json
from collections.abc import Callable

from mlmodelscope import Record, Settings, Store
from mlmodelscope.report.tabular import _plain

Report = Callable[[Record, str], str]
NAN = float("nan")


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_a_row_for_each_sample(evaluated: Record, report: Report) -> None:
    text = report(evaluated, "csv")
    assert text.startswith("id,digest,label,label_name,answer,answer_name,score,right,error,best\n")
    rows = rows_of(text)
    assert len(rows) == 30
    assert {row["label_name"] for row in rows} == {"class0", "class1", "class2"}
    assert all(len(row["best"].split(";")) == 5 and row["best"].split(";")[0] == row["answer"] for row in rows)


def test_a_failed_sample_is_a_row_with_its_reason(make_record: Callable, keep: Callable, report: Report) -> None:
    record = keep(make_record(), [("a.png", "d", 3, None, None, None, "the file is empty")])
    (row,) = rows_of(report(record, "csv"))
    assert row["error"] == "the file is empty" and row["answer"] == row["score"] == row["right"] == row["best"] == ""


def test_hostile_names_stay_in_their_cells_and_are_no_formulas(
    make_record: Callable, keep: Callable, report: Report
) -> None:
    names = ('=HYPERLINK("http://x")', 'with "quotes", commas\nand lines', "@sum")
    rows = [(name, "d", index, [index], [0.5], True, None) for index, name in enumerate(names)]
    found = rows_of(report(keep(make_record(class_names=names), rows), "csv"))
    assert [row["id"] for row in found] == ["'" + names[0], names[1], "'" + names[2]]
    assert [row["label_name"] for row in found] == [row["id"] for row in found]


def test_truth_and_answers_of_strangers_are_no_formulas_either(make_record: Callable) -> None:
    row = {"id": "a", "digest": "d", "target": "=1+1", "answer": "@sum", "score": None, "error": None}
    assert _plain(row, make_record())[2:4] == ("'=1+1", "'@sum")


def test_a_score_comes_back_as_the_same_float(make_record: Callable, keep: Callable, report: Report) -> None:
    score = 0.2642397880554199  # a 32-bit float
    record = keep(make_record(), [("a", "d", 0, [1], [score], False, None)])
    import struct

    (row,) = rows_of(report(record, "csv"))
    assert struct.pack("f", float(row["score"])) == struct.pack("f", score)


def test_json_is_the_whole_record_and_its_samples(evaluated: Record, report: Report, settings: Settings) -> None:
    document = json.loads(report(evaluated, "json"))
    assert Record.model_validate_json(json.dumps(document["record"])) == evaluated
    assert document["samples"] == Store(settings).samples(evaluated).to_pylist()


def test_json_knows_no_nan(make_record: Callable, keep: Callable, report: Report) -> None:
    record = keep(make_record(), [("a", "d", 0, [1, 2], [NAN, 0.5], False, None)])

    def refuse(word: str) -> None:
        raise AssertionError(word)

    document = json.loads(report(record, "json"), parse_constant=refuse)
    assert document["samples"][0]["scores"] == [None, 0.5]
