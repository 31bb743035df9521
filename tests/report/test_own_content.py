"""What a report shows of samples that are no pictures: texts, rows and sounds, whatever they hold."""

import io
import json
import math
import struct
import wave
from pathlib import Path
from typing import Any

import pytest

from browser import sticks_out
from mlmodelscope import Settings, evaluate
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.store import Store
from mlmodelscope.report.own_content import own_content
from mlmodelscope.report.report import write_report
from mlmodelscope.report.sound import Sounds, Unplayable, recording, waveform
from part_world import write_pairs, write_row_model, write_table, write_text_model

EVIL = "</p><script>alert(1)</script>"
HEBREW = "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd " * 40


def write_sound(path: Path, seconds: float = 0.5, width: int = 2, rate: int = 8000) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(width)
        file.setframerate(rate)
        values = [math.sin(each / 9) for each in range(round(seconds * rate))]
        if width == 1:
            file.writeframes(bytes(round(128 + 100 * each) for each in values))
        else:
            whole = [round(0.5 * 2 ** (8 * width - 1) * each) for each in values]
            file.writeframes(b"".join(each.to_bytes(width, "little", signed=True) for each in whole))
    return path


def report_of(model: Path, dataset: Path, settings: Settings) -> str:
    record = evaluate(str(model), str(dataset), settings=settings)
    return write_report(record, Store(settings), ArtifactStore(settings), "html")


def test_a_text_and_its_pair_stand_beside_truth_and_answer(tmp_path: Path, settings: Settings) -> None:
    pairs = write_pairs(tmp_path, [("a cat" + EVIL, "a dog", 2.0), ("a dog", "", 4.0)])
    text = report_of(write_text_model(tmp_path), pairs, settings)
    assert "a cat&lt;/p&gt;&lt;script&gt;" in text and EVIL not in text and "no picture" not in text
    assert text.count('aria-label="Second text"') == 2 and "(empty)" in text


def test_a_row_shows_its_cells(tmp_path: Path, settings: Settings) -> None:
    text = report_of(write_row_model(tmp_path), write_table(tmp_path, [(1.5, 2.0), (3.0, 3.0)]), settings)
    assert '<th scope="row"><bdi>x</bdi></th><td><bdi>1.5</bdi></td>' in text


def test_long_texts_of_any_script_fit_a_phone(tmp_path: Path, settings: Settings, browser: Any) -> None:
    long = [("x" * 10_000, "word " * 2000, 1.0), (HEBREW, "a" + HEBREW, 2.0), ("<b>" * 300, "\u202e" * 50, 3.0)]
    page = browser.new_page()
    page.set_content(report_of(write_text_model(tmp_path), write_pairs(tmp_path, long), settings))
    assert sticks_out(page, (390, 320)) == []
    page.close()


def test_a_text_is_no_longer_than_a_page_should_carry() -> None:
    found = own_content({"parts": {"text": {"text": "x" * 50_000}}}, Sounds())
    assert len(found.texts[0][1]) < 13_000 and found.texts[0][1].endswith("(50,000 characters)")
    assert len(own_content({"parts": {"text": {"text": "word " * 2_000_000}}}).texts[0][1]) < 13_000
    assert not own_content({"file": "a.png"}, Sounds())


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_a_sound_has_a_player_and_a_waveform(tmp_path: Path, width: int) -> None:
    path = write_sound(tmp_path / "a.wav", width=width)
    sound = own_content({"parts": {"audio": {"file": str(path)}}}, Sounds()).sound
    assert sound is not None and sound.uri and sound.uri.startswith("data:audio/wav;base64,")
    assert 'aria-label="Waveform of 0.50 s' in sound.chart and sound.chart.count("M") == 240


def test_a_piece_of_a_recording_is_cut_out(tmp_path: Path) -> None:
    path = write_sound(tmp_path / "a.wav", seconds=4.0)
    piece = recording({"file": str(path), "start": 1.0, "seconds": 0.5})
    with wave.open(io.BytesIO(piece.data)) as file:
        assert file.getnframes() == 4000
    other = tmp_path / "a.flac"
    other.write_bytes(b"fLaC" + bytes(100))
    assert recording({"file": str(other), "start": 1.0}).remark == "The sample is from 1.00 s to the end of this."


def test_what_cannot_be_played_is_said(tmp_path: Path) -> None:
    for content, said in ((b"<svg onload=x>", "none of them"), (b"fLaC" + bytes(2_000_000), "more than")):
        (tmp_path / "x").write_bytes(content)
        with pytest.raises(Unplayable, match=said):
            recording({"file": str(tmp_path / "x")})
    with pytest.raises(Unplayable, match="cannot read it"):
        recording({"file": str(tmp_path / "none")})
    sounds = Sounds(most=10_000)
    form = {"file": str(write_sound(tmp_path / "a.wav"))}
    first, second = sounds.make(form), sounds.make(form)
    assert first.uri and not second.uri and "as it can carry" in second.reason and second.chart


@pytest.mark.parametrize("size", [0, 1, 0xFFFFFFFF])
def test_a_broken_sound_has_no_waveform_and_breaks_nothing(size: int) -> None:
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", size, b"WAVE", b"fmt ", 16, 1, 0, 0, 0, 0, 16, b"data", size)
    assert waveform(head) == "" and waveform(b"RIFF\0\0\0\0WAVE") == "" and waveform(json.dumps({}).encode()) == ""
