"""Processes of ours import what this program would, and nothing that lies in the current folder."""

import sys
from pathlib import Path

import pytest

from mlmodelscope.confine.import_path import import_path
from mlmodelscope.measure.ruler import Ruler


def test_a_module_in_the_current_folder_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("numpy", "json", "mlmodelscope"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    ruler = Ruler()
    assert "numpy" in ruler.versions("object_detection")
    ruler.close()
    assert not (tmp_path / "ran").exists()


def test_places_are_those_of_this_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    assert import_path().split(":")[0] == str(tmp_path)
