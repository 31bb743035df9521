"""What each pitfall costs where a number is not a share of samples: in its own unit, with an interval for a few."""

import json
from pathlib import Path

import pytest
from PIL import Image

from cli.command import Run

MODEL = """
name: smoother
version: 1.0.0
task: image_enhancement
framework: {name: fake}
inputs:
  - type: image
    element_type: float32
    processing: [decode: {color_layout: RGB}, crop_multiple: 2, luma: studio, scale: 0.5, scale: 2, layout: NCHW]
outputs: [{type: image}]
answer: [picture: CHW, clip_picture: ]
measure: {color: luma}
source: {graph_path: echo.json}
"""
DATASET = """
name: ramps
version: 1.0.0
task: image_enhancement
format: pictures
sources: [{url: ramps}]
size: 3
"""
ASKED = ("sensitivity", "smoother.yml", "ramps.yml", "--pitfall", "luma-range", "--pitfall", "picture-rounding")


@pytest.fixture
def smoother(tmp_path: Path) -> Path:
    (tmp_path / "echo.json").write_text(json.dumps({"shape": [None] * 4, "echo": True}))
    (tmp_path / "smoother.yml").write_text(MODEL)
    (tmp_path / "ramps.yml").write_text(DATASET)
    (tmp_path / "ramps").mkdir()
    for seed in (1, 2, 3):
        picture = Image.frombytes("L", (24, 24), bytes(seed * at * at * 37 % 251 for at in range(576))).convert("RGB")
        picture.save(tmp_path / "ramps" / f"{seed}.png")
    return tmp_path


def test_every_number_has_its_own_unit(run: Run, smoother: Path) -> None:
    told = run(*ASKED, "--plot", "cost.svg").stdout.splitlines()
    assert " dB, SSIM 0." in told[0] and told[0].count("dB") == 1
    assert "flips" not in told[1] and "changed" in told[1]
    rows = [line for line in told if line.startswith(("luma-range", "picture-rounding"))]
    assert rows and all(line.count("dB") == 1 for line in rows)
    assert any("change of PSNR in dB, p by Student's t" in line for line in told)
    assert "dB of PSNR" in (smoother / "cost.svg").read_text()


def test_a_program_reads_what_the_numbers_are(run: Run, smoother: Path) -> None:
    found = json.loads(run(*ASKED, "--json").stdout)
    assert {(each["metric"], each["unit"]) for each in found} == {("psnr", "dB")}
    both = next(each for each in found if each["words"] == "luma of 0 to 255 as the input and compared")
    assert both["difference"] == pytest.approx(-1.322, abs=0.01)  # 20 log10(255 / 219), whatever the picture


def test_variants_that_differ_are_not_called_alike(run: Run, smoother: Path) -> None:
    words = [each["words"] for each in json.loads(run(*ASKED, "--json").stdout)]
    assert len(set(words)) == len(words)
    assert {"rounded after `scale` by 0.5", "rounded after `scale` by 2"} <= set(words)


@pytest.mark.parametrize("study", ["color-layout", "table1"])
def test_a_study_of_classifiers_says_so(run: Run, smoother: Path, study: str) -> None:
    done = run("study", study, "smoother.yml", "ramps.yml")
    assert done.returncode and "Traceback" not in done.stderr
    assert "smoother@1.0.0 does image_enhancement" in done.stderr and "mlmodelscope sensitivity" in done.stderr
