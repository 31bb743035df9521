"""What a model hears of a sound: its tensor as a picture, drawn where nobody's sound or steps can do harm."""

import base64
import io
from pathlib import Path
from typing import Any

import pytest

import own_world
from browser import sticks_out
from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.confine.confined import Limits
from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import PlannedInput
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.store import Store
from mlmodelscope.report import heard
from mlmodelscope.report.heard import Hearing, drawn, shown
from mlmodelscope.report.report import write_report
from mlmodelscope_worker.pipeline import STEPS

STEPS_OF_LOG_MEL = [
    {"name": name, "parameters": STEPS[name].resolve(given)}
    for each in own_world.LOG_MEL
    for name, given in each.items()
]


def sound(folder: Path, seconds: float = 0.5) -> dict[str, Any]:
    own_world.write_wav(folder / "a.wav", seconds)
    return {"parts": {"audio": {"file": str(folder / "a.wav")}}}


def planned(steps: list[dict[str, Any]]) -> PlannedInput:
    made = tuple(Step(**each) for each in steps)
    return PlannedInput(part="audio", layer_name="x", element_type="float32", steps=made)


def test_features_are_a_spectrogram_with_time_to_the_right(tmp_path: Path) -> None:
    from PIL import Image

    found = drawn(sound(tmp_path), STEPS_OF_LOG_MEL)
    picture = Image.open(io.BytesIO(base64.b64decode(found["png"])))
    assert picture.size == (48, 20) and picture.mode == "L" and not found["is_wave"]
    rows = [[picture.getpixel((column, row)) for row in range(20)] for column in (2, 45)]
    loudest = [levels.index(max(levels)) for levels in rows]
    assert loudest[1] < loudest[0], "the tone rises, and low bands are at the bottom"
    assert shown(found).about.startswith("float32 48 × 20, from -")


def test_raw_samples_are_a_waveform(tmp_path: Path) -> None:
    found = shown(drawn(sound(tmp_path), STEPS_OF_LOG_MEL[:2]))
    assert found.is_wave and found.about.startswith("float32 4000, from -")


def test_a_long_sound_has_no_wider_picture(tmp_path: Path) -> None:
    from PIL import Image

    found = drawn(sound(tmp_path, 20.0), STEPS_OF_LOG_MEL, wide=100, high=7)
    assert Image.open(io.BytesIO(base64.b64decode(found["png"]))).size == (100, 7)
    assert "1998 × 20" in shown(found).about


STRANGE: list[tuple[list[dict[str, Any]], str]] = [
    ([{"name": "dig", "parameters": {}}], "`dig` is not one of this program"),
    ([{"name": "tokenize", "parameters": {"file": "/etc/passwd"}}], "`tokenize` is not for sounds"),
    ([], "encoded sound, not numbers yet"),
    ([{"name": "decode_audio", "parameters": {"nonsense": 1}}], "nonsense"),
]


@pytest.mark.parametrize(("steps", "reason"), STRANGE)
def test_steps_of_strangers_are_refused_with_a_reason(tmp_path: Path, steps: list[dict[str, Any]], reason: str) -> None:
    found = shown(drawn(sound(tmp_path), steps))
    assert found.uri is None and reason in found.about


@pytest.mark.parametrize("content", [b"", b"RIFF", b"\0" * 4096, b"<svg onload=alert(1)>"])
def test_what_is_no_sound_has_a_reason(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.wav").write_bytes(content)
    found = drawn({"parts": {"audio": {"file": str(tmp_path / "a.wav")}}}, STEPS_OF_LOG_MEL)
    assert found["png"] is None and found["reason"]
    assert drawn(sound(tmp_path, 0.0), STEPS_OF_LOG_MEL)["reason"] == "the WAVE file has 0 samples"
    assert drawn({"parts": {"audio": {"file": str(tmp_path / "none")}}}, STEPS_OF_LOG_MEL)["png"] is None


def test_steps_that_take_all_memory_end_their_process_and_are_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heard, "_LIMITS", Limits(cpu_s=30, memory_bytes=100 << 20))
    huge = {"name": "fix_length", "parameters": STEPS["fix_length"].resolve(200_000_000)}
    with Hearing([planned([*STEPS_OF_LOG_MEL[:2], huge])]) as hearing:
        first, second = hearing(sound(tmp_path)), hearing(sound(tmp_path))
    assert first == second and first[0].uri is None and "memory" in first[0].about


def test_a_model_of_something_else_hears_nothing(tmp_path: Path) -> None:
    other = planned(STEPS_OF_LOG_MEL).model_copy(update={"part": "text"})
    with Hearing([other]) as hearing:
        assert hearing(sound(tmp_path)) == ()


def test_the_report_shows_what_the_model_hears(settings: Settings, tmp_path: Path, browser: Any) -> None:
    model, dataset = own_world.write_keywords(tmp_path)
    record = evaluate(str(model), str(dataset), Options(timed_runs=1, warm_up_runs=0), settings=settings)
    text = write_report(record, Store(settings), ArtifactStore(settings), "html")
    assert record.failed == 1 and 'alt="What the model hears: float32 ' in text and "<audio controls" in text
    page = browser.new_page()
    page.set_content(text)
    sizes = page.locator(".heard img").evaluate_all("all => all.map(each => [each.naturalWidth, each.clientHeight])")
    assert sizes and all(wide > 30 and high > 50 for wide, high in sizes)
    assert sticks_out(page, (390, 320)) == []
    page.close()
