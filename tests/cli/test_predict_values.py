"""`predict` with models that answer with numbers."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.command import Call
from test_tasks_evaluated import write_onnx, write_pictures

pytest.importorskip("onnxruntime")


@pytest.mark.parametrize(
    ("task", "values", "said"),
    [
        ("regression", [[1.5, -2.0]], {"values": [1.5, -2.0]}),
        ("time_series_forecasting", [[1.0, 2.0]], {"values": [1.0, 2.0]}),
        ("anomaly_detection", [[0.25]], {"values": [0.25]}),
        ("text_similarity", [[0.5]], {"values": [0.5]}),
        ("embedding", [[0.5, 0.25]], {"values": [0.5, 0.25]}),
        ("recommendation", [[0.25, 0.5]], [{"candidate": 1, "score": 0.5}, {"candidate": 0, "score": 0.25}]),
    ],
)
def test_predict_shows_numbers(call: Call, tmp_path: Path, task: str, values: Any, said: Any) -> None:
    write_pictures(tmp_path / "pictures", 1)
    write_onnx(tmp_path / "same.onnx", y=values)
    model = {
        "name": "same",
        "version": "1.0.0",
        "task": task,
        "framework": {"name": "onnxruntime"},
        "inputs": [{"type": "image", "processing": {"decode": {"color_layout": "RGB"}, "layout": "NCHW"}}],
        "outputs": [{"type": "tensor"}],
        "source": {"graph_path": "same.onnx"},
    }
    (tmp_path / "model.yml").write_text(yaml.safe_dump(model, sort_keys=False))
    picture = str(tmp_path / "pictures" / "0.png")
    found = json.loads(call("predict", str(tmp_path / "model.yml"), picture, "--json"))
    assert said in _all_in(found), found
    assert ("candidate 1" if task == "recommendation" else f"{values[0][0]:g}") in call(
        "predict", str(tmp_path / "model.yml"), picture
    )


def _all_in(value: Any) -> list[Any]:
    """A value and everything in it; texts that are JSON, too."""
    if isinstance(value, str):
        try:
            return [value, *_all_in(json.loads(value))] if value[:1] in ("{", "[") else [value]
        except ValueError:
            return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(found for each in inner for found in _all_in(each))]


def test_an_answer_comes_with_its_time_and_a_word_on_missing_names(call: Call, toy: Path) -> None:
    picture = str(next((toy / "pictures").rglob("*.png")))
    said = call("predict", str(toy / "toy.yml"), picture)
    assert re.search(r"^  [\d.]+ (s|ms|µs): \w+ [\d.]+ (s|ms|µs)", said, re.MULTILINE)
    assert "classes are shown by number: the manifest names none" in said
    (toy / "names.txt").write_text("\n".join(map(str, range(10))))
    named = (toy / "toy.yml").read_text().replace("{softmax: }", "{softmax: , features_url: names.txt}")
    (toy / "named.yml").write_text(named)
    assert "by number" not in call("predict", str(toy / "named.yml"), picture)
