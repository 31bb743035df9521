"""Samples that are not pictures, over REST: texts, cells, sounds and what a model hears, whatever they hold."""

from __future__ import annotations

import io
import json
import wave
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import own_world
from mlmodelscope import Options, evaluate
from mlmodelscope.settings import Settings

from .conftest import World

Records = dict[str, str]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    found = World(tmp_path_factory.mktemp("world"))
    try:
        found.host(executor="none", largest_input=1 << 20)
        yield found
        assert "Traceback" not in found.log("server")
    finally:
        found.close()


def made(world: World, place: Path, task: str) -> str:
    """The record of a world in this folder."""
    place.mkdir(parents=True)
    return evaluated(world, own_world.WORLDS[task](place))


def evaluated(world: World, files: own_world.Files, **more: Any) -> str:
    settings = Settings.from_environment(world.environment("server"))
    return evaluate(*map(str, files), Options(timed_runs=1, warm_up_runs=0, **more), settings=settings).id


@pytest.fixture(scope="module")
def records(world: World) -> Records:
    return {task: made(world, world.place / "own" / task, task) for task in own_world.WORLDS}


def get(world: World, record: str, path: str, sample: str | None = None, token: str | None = None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return world.http.get(f"/records/{record}/{path}", params={"sample": sample} if sample else {}, headers=headers)


def test_texts_come_as_they_are(world: World, records: Records) -> None:
    found = get(world, records["text_similarity"], "input", "pair-2").json()
    assert found["kind"] == "text" and found["sound"] is None
    assert found["texts"] == [{"title": "Text", "text": f"one {own_world.ODD}"}, {"title": "Second text", "text": ""}]
    evil = get(world, records["text_similarity"], "input", "pair-1")
    assert own_world.EVIL in evil.json()["texts"][0]["text"] and evil.headers["content-type"] == "application/json"
    assert evil.headers["x-content-type-options"] == "nosniff"


def test_cells_come_with_their_columns(world: World, records: Records) -> None:
    found = get(world, records["tabular_regression"], "input", "row-3").json()
    assert found["kind"] == "columns" and found["cells"][0] == {"column": "x", "value": "3"}
    assert found["cells"][1] == {"column": own_world.EVIL, "value": own_world.ODD}


def test_a_sound_has_a_waveform_and_is_played(world: World, records: Records) -> None:
    record = records["audio_classification"]
    told = get(world, record, "input", "yes/1.wav").json()["sound"]
    assert told["reason"] is None and told["seconds"] == 0.6 and len(told["peaks"]) == 240
    assert told["about"] == "Waveform of 0.60 s, loudest -6 dB"
    played = get(world, record, "sound", "yes/1.wav")
    assert played.headers["content-type"] == "audio/wav" and played.headers["x-content-type-options"] == "nosniff"
    with wave.open(io.BytesIO(played.content)) as file:
        assert file.getnframes() == 4800
    heard = get(world, record, "heard", "yes/1.wav").json()["inputs"]
    assert [each["tensor"] for each in heard] == ["float32 58 x 20"] and b64decode(heard[0]["png"])[1:4] == b"PNG"


def test_a_sound_of_no_samples_says_so(world: World, records: Records) -> None:
    record = records["audio_classification"]
    told = get(world, record, "input", "no/nothing.wav").json()["sound"]
    assert told["seconds"] is None and told["peaks"] == [] and told["reason"] is None
    (heard,) = get(world, record, "heard", "no/nothing.wav").json()["inputs"]
    assert heard["png"] is None and heard["reason"] == "the WAVE file has 0 samples"
    assert get(world, record, "sound", "no/nothing.wav").status_code == 200


def test_what_is_no_sound_has_none(world: World, records: Records) -> None:
    for path in ("sound", "heard"):
        found = get(world, records["text_similarity"], path, "pair-1")
        assert found.status_code == 404 and found.json()["detail"] == "`pair-1` cannot be shown: it is not a sound"
    assert get(world, records["speech_recognition"], "heard", "take-1.wav").json()["inputs"] == []


def test_a_name_is_looked_up_and_never_a_path(world: World, records: Records) -> None:
    for path in ("input", "sound", "heard"):
        for name in ("../model.yml", "/etc/passwd", "sounds/yes/1.wav", "yes/../yes/1.wav", "\u202e", "a" * 999):
            found = get(world, records["audio_classification"], path, name)
            assert found.status_code == 404 and found.json()["title"] == "NoPicture", found.text
        assert get(world, records["audio_classification"], path, "a" * 1001).status_code == 422
        assert get(world, "none", path, "a").status_code == 404


def test_a_sound_that_changed_or_is_too_large_is_not_played(world: World, tmp_path: Path) -> None:
    record, place = evaluated(world, own_world.write_keywords(tmp_path), batch_size=2), tmp_path
    assert get(world, record, "sound", "yes/1.wav").status_code == 200
    own_world.write_wav(place / "sounds" / "yes" / "1.wav", 0.6, 999.0)
    for path in ("sound", "heard"):
        found = get(world, record, path, "yes/1.wav")
        assert found.status_code == 404 and "its file has changed" in found.json()["detail"]
    assert "its file has changed" in get(world, record, "input", "yes/1.wav").json()["sound"]["reason"]
    (place / "sounds" / "yes" / "2.wav").unlink()
    assert "cannot be shown" in get(world, record, "sound", "yes/2.wav").json()["detail"]


def test_a_sound_beyond_the_limit_is_refused_and_its_piece_is_played(world: World, tmp_path: Path) -> None:
    long = tmp_path / "sounds" / "long.wav"
    own_world.write_wav(long, 80.0)
    lines = [
        {"audio_filepath": "long.wav", "text": "a"},
        {"audio_filepath": "long.wav", "offset": 1, "duration": 2, "text": "b"},
    ]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, lines)))
    answers = {"long.wav": "a", "long.wav@1": "b"}
    model = own_world.recorded("speech_recognition", "long", answers, tmp_path, "text")
    sources = [{"url": "sounds", "labels_url": "texts.jsonl"}]
    dataset = {"name": "long", "task": "speech_recognition", "format": "audio", "sources": sources}
    files = own_world.write_files(tmp_path, model, dataset)
    record = evaluated(world, files)
    found = get(world, record, "sound", "long.wav")
    assert found.status_code == 404 and "1,280,044 bytes are more than the 1,048,576" in found.json()["detail"]
    assert "are more than" in get(world, record, "input", "long.wav").json()["sound"]["reason"]
    piece = get(world, record, "sound", "long.wav@1")
    assert piece.status_code == 200 and len(piece.content) == 44 + 2 * 2 * 8000
    own_world.write_wav(long, 80.0, 999.0)
    assert "has changed" in get(world, record, "sound", "long.wav@1").json()["detail"]


def test_a_dataset_that_has_gone_costs_what_was_asked_and_not_the_answer(world: World, tmp_path: Path) -> None:
    place = tmp_path / "leaving"
    place.mkdir()
    record = evaluated(world, own_world.write_speech(place), batch_size=2)
    place.rename(tmp_path / "elsewhere")
    found = get(world, record, "input", "take-1.wav")
    assert found.status_code == 404 and found.json()["title"] == "NoPictures"
    shapes = get(world, record, "shapes", "take-1.wav").json()["shapes"]
    assert [each["kind"] for each in shapes] == ["text", "difference"]


def test_a_text_of_megabytes_is_shown_by_its_beginning(world: World, tmp_path: Path) -> None:
    own_world.write_rows(tmp_path, [{"id": "long", "one": "word " * 800_000, "two": "b", "y": 1.0}])
    model = own_world.recorded("text_similarity", "long", {"long": 0.5}, tmp_path, "number")
    dataset = own_world.table("text_similarity", "long", id="id", text="one", text_pair="two", target="y")
    files = own_world.write_files(tmp_path, model, dataset)
    record = evaluated(world, files)
    found = get(world, record, "input", "long")
    assert found.status_code == 200 and len(found.content) < 20_000
    assert found.json()["texts"][0]["text"].endswith("… (4,000,000 characters)")


def test_residuals_are_points(world: World, records: Records) -> None:
    found = get(world, records["tabular_regression"], "residuals").json()
    assert (found["dataset"], found["samples"], found["values"], found["lost"]) == ("curve", 39, 39, 0)
    assert found["largest"][0] == {"sample": "row-0", "place": 0, "truth": 4.0, "answer": 0.0}
    assert len(found["points"]) == 39 and found["has_residuals"] and not found["is_several"]
    assert get(world, records["time_series_forecasting"], "residuals").json()["is_several"]
    alike = get(world, records["text_similarity"], "residuals").json()
    assert not alike["has_residuals"] and alike["largest"] == [] and len(alike["points"]) == 3
    none = get(world, records["speech_recognition"], "residuals").json()
    assert none["samples"] == 0 and none["points"] == []


def test_readers_may_see_and_nobody_else(world: World, records: Records) -> None:
    record = records["audio_classification"]
    reader, agent = world.token("read"), world.token("agent")
    for path, sample in (("input", "yes/1.wav"), ("sound", "yes/1.wav"), ("heard", "yes/1.wav")):
        assert get(world, record, path, sample, reader).status_code == 200
        assert get(world, record, path, sample, agent).status_code == 403
    assert get(world, record, "residuals", None, agent).status_code == 403


def test_one_sample_is_found_by_its_whole_name(world: World, records: Records) -> None:
    ask = f"/records/{records['tabular_regression']}/samples"
    assert [each["id"] for each in world.http.get(ask, params={"id": "row-1"}).json()["items"]] == ["row-1"]
    assert world.http.get(ask, params={"q": "row-1"}).json()["total"] == 11
    assert world.http.get(ask, params={"id": "row-"}).json()["total"] == 0


def test_answers_of_megabytes_are_shown_by_their_beginning(world: World, tmp_path: Path) -> None:
    own_world.write_wav(tmp_path / "sounds" / "a.wav", 0.3)
    (tmp_path / "texts.txt").write_text("word (a)\n")
    long = {"a.wav": "word " * 100_000}
    model = own_world.recorded("speech_recognition", "talker", long, tmp_path, "text")
    sources = [{"url": "sounds", "labels_url": "texts.txt"}]
    dataset = {"name": "short", "task": "speech_recognition", "format": "audio", "sources": sources}
    record = evaluated(world, own_world.write_files(tmp_path, model, dataset))
    (row,) = world.http.get(f"/records/{record}/samples").json()["items"]
    assert len(row["said"]) < 1000 and len(row["truth"]) < 1000
    found = get(world, record, "shapes", "a.wav")
    assert found.status_code == 200 and len(found.content) < 100_000
