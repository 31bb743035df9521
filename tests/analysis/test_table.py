"""Tables keep raw numbers, and spell them for people."""

import json

import pytest

from mlmodelscope.analysis.table import Analysis, Column, Table, large, one_file, spelled
from mlmodelscope.errors import UsageError

TIME, SIZE, NAME = (
    Column("time_ns", "time", kind="time_ns"),
    Column("bytes", "size", kind="bytes"),
    Column("name", "name"),
)


def table() -> Table:
    return Table("t", "A table", (NAME, TIME, SIZE), [("a, b", 1500, 2048), ("c", 2e6, None)])


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        (TIME, 85_100_000, "85.1 ms"),
        (TIME, -1500, "−1.5 µs"),
        (SIZE, 1536, "1.50 KiB"),
        (Column("s", "s", kind="share"), 0.123, "12.3 %"),
        (Column("c", "c", kind="count"), 12345, "12,345"),
        (Column("f", "f", "flop/s", "rate"), 4.12e9, "4.12 Gflop/s"),
        (Column("f", "f", "flop", "rate"), 12, "12.0 flop"),
        (Column("n", "n", "flop/byte", "number"), 17.44, "17.4 flop/byte"),
        (NAME, (1, 3, 8), "1×3×8"),
        (NAME, None, "–"),
    ],
)
def test_numbers_are_spelled_with_a_unit_that_suits_them(column: Column, value: float, text: str) -> None:
    assert spelled(column, value).replace("\N{NO-BREAK SPACE}", " ") == text


def test_large_numbers_have_three_digits() -> None:
    assert [large(value).replace("\N{NO-BREAK SPACE}", " ") for value in (999, 1500, 15.7e12)] == [
        "999",
        "1.50 k",
        "15.7 T",
    ]


def test_csv_has_raw_numbers_and_nothing_for_what_is_not_known() -> None:
    assert table().to_csv() == 'name,time_ns,bytes\n"a, b",1500,2048\nc,2000000.0,\n'


def test_names_of_strangers_layers_are_no_formulas_in_csv() -> None:
    found = Table("t", "t", (NAME, SIZE), [("=1+1", 1), ("@sum", -2), ("a", None)]).to_csv()
    assert found == "name,bytes\n'=1+1,1\n'@sum,-2\na,\n"


def test_json_names_every_value() -> None:
    found = json.loads(json.dumps(table().to_json()))
    assert found["rows"][1] == {"name": "c", "time_ns": 2e6, "bytes": None}
    assert found["columns"][1] == {"name": "time_ns", "title": "time", "unit": "ns", "kind": "time_ns"}


def test_columns_of_which_nothing_is_known_are_left_out() -> None:
    bare = Table("t", "t", (NAME, SIZE), [("a", None), ("b", None)]).without_empty()
    assert [column.name for column in bare.columns] == ["name"] and bare.column("name") == ["a", "b"]


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="has 1 values for 3 columns"):
        Table("t", "t", (NAME, TIME, SIZE), [("a",)])


def test_a_files_name_says_its_form() -> None:
    analysis = Analysis("A2", "Layers", table())
    assert one_file(analysis, "a.csv") == table().to_csv()
    assert json.loads(one_file(analysis, "a.json"))["id"] == "A2"
    with pytest.raises(UsageError):
        one_file(analysis, "a.xls")
