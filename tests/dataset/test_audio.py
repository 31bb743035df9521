"""Sound files, and what is said in them or what they are."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError

Open = Callable[..., Dataset]
Write = Callable[..., Path]
SPEECH = {"task": "speech_recognition"}


def nemo(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def said(found: Dataset) -> dict[str, str]:
    return {each.id: each.target["texts"][0] for each in found.samples}


def test_nemo_manifests_name_files_and_pieces(write: Write, open_as: Open) -> None:
    rows = [
        {"audio_filepath": "a.wav", "text": "hi", "duration": 2.0},
        {"audio_filepath": "b.wav", "text": "you", "offset": 1.5, "duration": 2},
    ]
    folder = write({"wav/a.wav": b"a", "wav/b.wav": b"b", "m.json": nemo(*rows)})
    found = open_as("audio", folder / "wav", folder / "m.json", **SPEECH)
    assert said(found) == {"a.wav": "hi", "b.wav@1.5": "you"}
    assert found.samples[0].content["file"] == found.samples[0].content["parts"]["audio"]["file"]
    assert found.samples[1].content["parts"]["audio"]["start"] == 1.5


def test_librispeech_folders(write: Write, open_as: Open) -> None:
    body = "84-1-0000 GO DO YOU HEAR\n84-1-0001 NO\n"
    files = {"84/1/84-1.trans.txt": body, "84/1/84-1-0000.flac": b"a", "84/1/84-1-0001.flac": b"b"}
    found = open_as("audio", write(files), **SPEECH)
    assert said(found) == {"84/1/84-1-0000.flac": "GO DO YOU HEAR", "84/1/84-1-0001.flac": "NO"}


def test_transcriptions_of_sphinx(write: Write, open_as: Open) -> None:
    body = "<s> hello world </s> (take-1)\nbye (take-2)\nnot asked for (take-3)\n"
    files = {"fileids": "take-1\ntake-2\n", "transcription": body, "take-1.wav": b"a", "take-2.wav": b"b"}
    assert said(open_as("audio", write(files), **SPEECH)) == {"take-1.wav": "hello world", "take-2.wav": "bye"}


def test_a_table_says_which_columns_are_what(write: Write, open_as: Open) -> None:
    folder = write({"wav/a.wav": b"a", "t.csv": "path,sentence\na.wav,hi\n"})
    columns = {"audio": "path", "target": "sentence"}
    found = open_as("audio", folder / "wav", folder / "t.csv", columns=columns, **SPEECH)
    assert found.samples[0].target == {"texts": ["hi"]}


COMMANDS = {
    "yes/a.wav": b"a",
    "yes/b.wav": b"b",
    "no/c.wav": b"c",
    "_background_noise_/hum.wav": b"h",
    "testing_list.txt": "yes/b.wav\n",
    "validation_list.txt": "no/c.wav\n",
}


@pytest.mark.parametrize(
    ("split", "ids"),
    [
        (None, ["no/c.wav", "yes/a.wav", "yes/b.wav"]),
        ("test", ["yes/b.wav"]),
        ("validation", ["no/c.wav"]),
        ("train", ["yes/a.wav"]),
    ],
)
def test_folders_of_commands_and_their_splits(write: Write, open_as: Open, split: str | None, ids: list[str]) -> None:
    found = open_as("audio", write(COMMANDS), task="audio_classification", split=split)
    assert [each.id for each in found.samples] == ids
    if split is None:
        assert found.classes == ["no", "yes"] and [each.target for each in found.samples] == [0, 1, 1]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"audio_filepath": "/etc/passwd", "text": "x"}, "line 1 of m.json names a file outside"),
        ({"audio_filepath": "../m.json", "text": "x"}, "line 1 of m.json names a file outside"),
        ({"audio_filepath": "no.wav", "text": "x"}, "which wav does not hold"),
        ({"audio_filepath": 3, "text": "x"}, "names no file: '3'"),
        ({"audio_filepath": "a\0.wav", "text": "x"}, "names no file"),
        ({"audio_filepath": "x" * 5000, "text": "x"}, "which wav does not hold"),
        ({"audio_filepath": "a.wav"}, "line 1 of m.json has no reference text"),
        ({"audio_filepath": "a.wav", "text": "x", "offset": -1}, "has the offset -1"),
        ({"audio_filepath": "a.wav", "text": "x", "offset": "1"}, "has the offset 1, not a number of seconds"),
    ],
)
def test_what_is_wrong_with_a_manifest_is_said(write: Write, open_as: Open, row: dict[str, Any], message: str) -> None:
    folder = write({"wav/a.wav": b"a", "m.json": nemo(row)})
    with pytest.raises(DatasetError, match=message):
        open_as("audio", folder / "wav", folder / "m.json", **SPEECH)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.txt": "x"}, "holds no sound file"),
        ({"a.wav": b"a"}, "`a.wav` lies in no class folder, and data holds no transcription"),
        ({"a.wav": b"a", "transcription": "hello (b)\n"}, "is about `b`, and data holds no such sound file"),
        ({"a.wav": b"a", "transcription": "hello\n"}, "line 1 of transcription does not end in the name of a sound"),
        ({"a.wav": b"a", "transcription": "x (a)\ny (a)\n"}, "line 2 of transcription is about `a.wav`, and so is"),
        ({"a.wav": b"a", "transcription": "x (a)\n", "fileids": "a\nb\n"}, "`fileids` lists `b`"),
        ({"a.wav": b"a", "transcription": b" " * 3_000_000 + b"\n"}, "line 1 of transcription"),
    ],
)
def test_what_is_wrong_with_a_folder_is_said(write: Write, open_as: Open, files: dict[str, Any], message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        open_as("audio", write(files), **SPEECH)


def test_a_list_that_names_other_files_is_refused(write: Write, open_as: Open) -> None:
    with pytest.raises(DatasetError, match="testing_list.txt lists `yes/gone.wav`"):
        open_as(
            "audio",
            write({**COMMANDS, "testing_list.txt": "yes/gone.wav\n"}),
            task="audio_classification",
            split="test",
        )
    with pytest.raises(DatasetError, match="no list of the split `other`"):
        open_as("audio", write(COMMANDS), task="audio_classification", split="other")
