"""`predict` with models that take texts and rows, by argument and from standard input."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.command import Call, Run
from part_world import write_row_model, write_text_model


@pytest.fixture
def reader(tmp_path: Path) -> str:
    return str(write_text_model(tmp_path))


@pytest.fixture
def rows(tmp_path: Path) -> str:
    return str(write_row_model(tmp_path))


def values(text: str) -> list[Any]:
    return [each["value"]["values"][0] for each in json.loads(text)]


def test_a_text_is_asked_about_with_its_pair(reader: str, call: Call, run: Run) -> None:
    by_option = values(call("predict", reader, "a cat", "a dog", "--pair", "a dog runs", "--json"))
    by_tab = values(call("predict", reader, "a cat\ta dog runs", "a dog\ta dog runs", "--json"))
    by_line = run("predict", reader, "-", "--json", input="a cat\ta dog runs\r\na dog\ta dog runs\n")
    assert by_option == by_tab == values(by_line.stdout) and by_option[0] != by_option[1]
    assert by_option != values(call("predict", reader, "a cat", "a dog", "--json"))


def test_an_answer_is_named_for_what_was_asked(reader: str, call: Call) -> None:
    lines = call("predict", reader, "a [bold]cat[/bold]\nsits " + "very " * 100).splitlines()
    assert lines[0].startswith("a [bold]cat[/bold] sits very") and lines[0].endswith("…") and len(lines[0]) <= 80
    assert lines[1].split() == ["answer"] and float(lines[2])


def test_a_text_has_classes_as_a_picture_has(tmp_path: Path, call: Call) -> None:
    text = call("predict", str(write_text_model(tmp_path, "classification")), "a cat sits")
    assert text.splitlines()[0] == "a cat sits" and len(text.splitlines()) == 6


def test_a_row_is_named_values_or_json_or_a_line(rows: str, call: Call, run: Run) -> None:
    said = values(call("predict", rows, "x=1.5,note=hello", '{"x": 2, "note": null}', "--json"))
    assert said == [1.5, 2.0]
    for given in ("x,note\n1.5,hello\n2,\n", '{"x": 1.5}\n\n{"x": 2}\n'):
        assert values(run("predict", rows, "-", "--json", input=given).stdout) == [1.5, 2.0]
    assert call("predict", rows, "x=1.5,note=hello").splitlines()[0] == "x=1.5,note=hello"


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        (["x=1,x=2"], "", "the column `x` twice"),
        (["1.5"], "", "name=value is due"),
        (['{"x": [1]}'], "", "neither a number nor a text nor null"),
        (['{"x": NaN}'], "", "not a finite number"),
        (["-"], "x,y\n1\n", "row 1 of standard input has 1 cells, the header has 2"),
        (["-"], "x\n", "no rows below its header"),
        (["-"], '{"x": 1}\n[2]\n', "line 2 of standard input is not an object"),
        (["-"], "", "standard input is empty"),
        (["-", "-"], "x\n1\n", "several -"),
        (["x=1", "--pair", "y"], "", "--pair is for texts"),
    ],
)
def test_a_row_that_cannot_be_read_is_refused(rows: str, run: Run, words: list[str], given: str, said: str) -> None:
    ended = run("predict", rows, *words, input=given)
    assert ended.returncode == 2 and said in " ".join(ended.stderr.split()) and "Traceback" not in ended.stderr


def test_a_row_without_the_models_column_fails_alone(rows: str, run: Run) -> None:
    ended = run("predict", rows, "x=1", "z=1", "--json")
    fine, bad = json.loads(ended.stdout)
    assert ended.returncode == 1 and fine["error"] is None and "no column `x`" in bad["error"]


def test_texts_that_no_model_can_take_are_refused(reader: str, call: Call, tmp_path: Path, run: Run) -> None:
    assert "--pair gives another" in call("predict", reader, "a\tb", "--pair", "c", code=2)
    assert "is not UTF-8" in call("predict", reader, "a \udcff", code=2)
    assert "--draw draws into files of pictures" in call("predict", reader, "a", "--draw", "x.png", code=2)
    ended = run("predict", reader, "-", input="\n" * 100_001)
    assert ended.returncode == 2 and "more than 100,000 lines" in ended.stderr


def test_bytes_that_are_no_text_are_refused(reader: str, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mlmodelscope", "predict", reader, "-"]
    ended = subprocess.run(
        words, input=b"fine\n\xff\xfe\n", capture_output=True, env={**os.environ, "MLMODELSCOPE_HOME": str(tmp_path)}
    )
    assert ended.returncode == 2 and b"line 2 of standard input is not UTF-8 text" in ended.stderr
