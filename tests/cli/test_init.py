"""`init` as people and programs use it."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

from .command import Run

MODELS = Path(__file__).parent.parent / "model_file" / "files"
VIT = {
    "do_resize": True,
    "image_processor_type": "ViTImageProcessor",
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
    "resample": 2,
    "size": {"height": 8, "width": 8},
}


def test_a_manifest_is_printed_and_the_rest_goes_to_standard_error(run: Run) -> None:
    done = run("init", MODELS / "onnx_logits.onnx")
    assert done.returncode == 0
    assert "\nname: onnx_logits" in done.stdout
    assert "guesses are marked in it" in done.stderr


def test_a_manifest_and_its_names_are_written_and_not_overwritten(run: Run, tmp_path: Path) -> None:
    done = run("init", MODELS / "onnx_softmax.onnx", "--output", "toy.yml", "--yes", "--name", "toy")
    assert done.stdout.split() == ["toy.labels.txt", "toy.yml"]
    assert (tmp_path / "toy.labels.txt").read_text().split() == ["cat", "dog", "bird", "fish"]
    again = run("init", MODELS / "onnx_softmax.onnx", "--output", "toy.yml")
    assert again.returncode == 2
    assert "--force overwrites it" in again.stderr
    assert run("init", MODELS / "onnx_softmax.onnx", "--output", "toy.yml", "--force").returncode == 0


def test_a_configuration_goes_with_a_model_or_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(VIT))
    both = run("init", MODELS / "onnx_logits.onnx", "--from", "preprocessor_config.json")
    alone = run("init", "preprocessor_config.json")
    folder = run("init", ".")
    assert "normalize: {mean: 0.5, std: 0.5}" in both.stdout
    assert "layer_name: image" in both.stdout
    assert "layer_name: pixel_values" in alone.stdout
    assert folder.stdout == alone.stdout


def test_programs_get_what_was_found_and_what_was_guessed(run: Run) -> None:
    report = json.loads(run("init", MODELS / "keras_quantized.tflite", "--json").stdout)
    assert {"where": "framework.name", "value": "tflite", "because": "the file is tflite"} in report["found"]
    assert "cast" in {guess["where"] for guess in report["guessed"]}
    assert report["questions"] and report["manifest"] and report["files"] == []


def test_refusals_are_short(run: Run) -> None:
    nothing, gone, wrong = (
        run("init"),
        run("init", "gone.onnx"),
        run("init", MODELS / "onnx_logits.onnx", "--task", "cooking"),
    )
    assert (nothing.returncode, gone.returncode, wrong.returncode) == (2, 1, 2)
    assert "nothing to start from" in nothing.stderr
    for done in (nothing, gone, wrong):
        assert done.stderr.startswith("error: ")
        assert "Traceback" not in done.stderr


def test_a_person_is_asked_and_a_wrong_answer_is_asked_again(tmp_path: Path) -> None:
    host, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "mlmodelscope", "init", str(MODELS / "onnx_logits.onnx"), "--output", "toy.yml"],
        cwd=tmp_path,
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(terminal)
    # name, task (twice), colours, mean, std, license
    os.write(host, b"asked\ncooking\nclassification\nBGR\n127.5\n\nMIT\n")
    out, error = process.communicate(timeout=300)
    os.close(host)
    assert process.returncode == 0, error
    text = (tmp_path / "toy.yml").read_text()
    assert "name: asked\n" in text
    assert "color_layout: BGR" in text
    assert "- mean: 127.5" in text
    assert "license: MIT" in text
    assert "is not known" in error
    assert out.strip() == "toy.yml"
