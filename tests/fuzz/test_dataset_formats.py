"""Datasets of text, tables and sound: samples or an error of ours, whatever the bytes are."""

import contextlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from damage import damaged
from hypothesis import given

from mlmodelscope.dataset.format import FORMATS
from mlmodelscope.dataset.sample import NamedFile
from mlmodelscope.errors import DatasetError
from mlmodelscope.manifest.schema import Columns, Labels
from mlmodelscope.plan.plan import PlannedDataset, Subset

ROWS = [{"a": "good", "b": 1, "c": [1.5, 2]}, {"a": "bad", "b": 0, "c": [3]}]
ASKED = {"id": "q", "question": "Who?", "answers": [{"text": "Ann"}]}
SQUAD = json.dumps({"data": [{"paragraphs": [{"context": "Ann ran.", "qas": [ASKED]}]}]})
TABLE = {"task": "regression", "columns": Columns(id="a", text="a", features=("b",), target=("b", "c"))}

CASES: dict[str, tuple[str, dict[str, str], str, dict[str, Any]]] = {
    "csv": ("table", {"t.csv": 'a,b,c\n"good",1,2\nbad,0,[3]\n'}, "t.csv", TABLE),
    "jsonl": ("table", {"t.jsonl": "\n".join(map(json.dumps, ROWS))}, "t.jsonl", TABLE),
    "json": ("table", {"t.json": json.dumps(ROWS)}, "t.json", TABLE),
    "conll": ("conll", {"t": "-DOCSTART- O\n\nAnn B-PER\nran O\n\nRome S-LOC\n"}, "t", {}),
    "squad": ("squad", {"t.json": SQUAD}, "t.json", {}),
    "spans": ("spans", {"a.txt": "Ann Lee", "a.ann": "T1\tPER 0 3;4 7\tAnn Lee\n"}, "a.ann", {}),
    "factrueval spans": (
        "factrueval",
        {"a.txt": "Ann Lee", "a.spans": "1 name 0 3 # Ann\n2 surname 4 3\n", "a.objects": "9 Person 1 2 # Ann Lee\n"},
        "a.spans",
        {},
    ),
    "factrueval objects": (
        "factrueval",
        {"a.txt": "Ann Lee", "a.spans": "1 name 0 3 # Ann\n2 surname 4 3\n", "a.objects": "9 Person 1 2 # Ann Lee\n"},
        "a.objects",
        {},
    ),
    "sphinx": (
        "audio",
        {"a.wav": "", "transcription": "<s> hi </s> (a)\n", "fileids": "a\n"},
        "transcription",
        {"task": "speech_recognition"},
    ),
    "huggingface": (
        "huggingface",
        {"test.csv": "a,b\nx,1\n", "dataset_info.json": json.dumps({"features": {"b": {"names": ["n", "p"]}}})},
        "dataset_info.json",
        {"task": "text_classification", "columns": Columns(text="a", target="b"), "split": "test"},
    ),
}
"""Format, its files, which of them is damaged, and what its manifest says."""


def planned(form: str, fields: Mapping[str, Any]) -> PlannedDataset:
    return PlannedDataset(
        name="theirs",
        version="1.0.0",
        format=form,
        sources=(),
        include="*",
        labels=Labels(),
        classes=None,
        shape=None,
        size=None,
        subset=Subset(count=None, stratified=False, seed=0),
        **fields,
    )


def read(form: str, files: Mapping[str, bytes], single: str, fields: Mapping[str, Any]) -> int:
    with tempfile.TemporaryDirectory() as place:
        for name, body in files.items():
            (Path(place) / name).write_bytes(body)
        is_file = len(files) == 1
        source = NamedFile(Path(place) / single if is_file else Path(place), single if is_file else "data")
        return len(FORMATS[form].read(source, None, planned(form, fields)))


@pytest.mark.parametrize("case", CASES)
def test_samples_or_an_error_of_ours(case: str) -> None:
    form, texts, name, fields = CASES[case]
    files = {each: text.encode() for each, text in texts.items()}

    @given(damaged(files[name]))
    def damage(body: bytes) -> None:
        with contextlib.suppress(DatasetError):
            read(form, {**files, name: body}, name, fields)

    assert read(form, files, name, fields) >= 1
    damage()


def test_lines_of_nemos_manifest() -> None:
    row = json.dumps({"audio_filepath": "a.wav", "text": "hi", "offset": 1.5, "duration": 2}).encode()

    @given(damaged(row))
    def damage(body: bytes) -> None:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "wav"
            folder.mkdir()
            (folder / "a.wav").write_bytes(b"RIFF")
            (Path(place) / "m.json").write_bytes(body)
            dataset = planned("audio", {"task": "speech_recognition"})
            with contextlib.suppress(DatasetError):
                FORMATS["audio"].read(NamedFile(folder, "wav"), NamedFile(Path(place) / "m.json", "m.json"), dataset)

    damage()
