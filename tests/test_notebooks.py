"""The notebooks of the documentation run from top to bottom, and show what a notebook is for."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs_world import environment

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
RUNNER = """
import ast, json, sys

def shown(source, names):
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last is not None else None
    return {"html": value._repr_html_() if hasattr(value, "_repr_html_") else None, "text": repr(value)}

names = {"__name__": "__main__"}
cells = json.load(open(sys.argv[1], encoding="utf-8"))["cells"]
answers = [shown("".join(cell["source"]), names) for cell in cells if cell["cell_type"] == "code"]
json.dump(answers, open(sys.argv[2], "w", encoding="utf-8"))
"""
"""What a kernel does: the cells in order with one set of names; the value of a cell's last line is what it shows."""


def run_notebook(path: Path, place: Path, variables: dict[str, str]) -> tuple[list[dict[str, Any]], str]:
    """What each cell would show, and what all of them printed."""
    answers = place / "answers.json"
    words = [sys.executable, "-c", RUNNER, str(path), str(answers)]
    done = subprocess.run(words, cwd=place, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(answers.read_text()), done.stdout


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    """They would be of one machine and one day, and would not be checked."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert notebook["nbformat"] == 4 and code
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_a_notebook_names_exists(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    named = re.findall(r"`(docs/[^`]+)`", "".join("".join(cell["source"]) for cell in cells))
    assert named and [name for name in named if not (ROOT / name).is_file()] == []


def test_a_cell_that_fails_ends_the_run(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": ["answer = 42\n", "answer"]}, {"cell_type": "code", "source": ["1 / 0"]}]
    for count in (1, 2):
        path = tmp_path / "notebook.ipynb"
        path.write_text(json.dumps({"cells": cells[:count]}))
        if count == 1:
            assert run_notebook(path, tmp_path, {})[0] == [{"html": None, "text": "42"}]
        else:
            with pytest.raises(AssertionError, match="ZeroDivisionError"):
                run_notebook(path, tmp_path, {})


@pytest.mark.slow(reason="a real model is evaluated, and a claim about it checked")
def test_the_notebook_on_claims_shows_a_record_and_a_verdict(evaluated: Path, fetched: Path, tmp_path: Path) -> None:
    shutil.copytree(evaluated / "home", tmp_path / "home")
    path = ROOT / "docs" / "notebooks" / "check-a-claim.ipynb"
    answers, printed = run_notebook(path, tmp_path, environment(tmp_path / "home", fetched))
    record, verdict = [answer["html"] for answer in answers if answer["html"]]
    assert "<table" in record and "top-1" in record and "efficientnet-lite0@1.0.0 on imagenet-70@1.0.0" in record
    assert "<strong>reproduced: top-1 82.86 % is claimed" in verdict
    assert "top-1 82.9%" in printed and "12 of 70 are wrong" in printed
    assert sum("imagenet_00_243.jpg" in answer["text"] for answer in answers) == 1, "the table of samples"
