"""Worlds whose samples are not pictures: sounds, texts, series and things to be found, as people write them.

Each function writes `model.yml` and `dataset.yml` into a folder and returns both. Answers are recorded ones, so that
every task has some without a framework; sounds are also heard by a model that takes log-mel features.
"""

from __future__ import annotations

import json
import math
import wave
from pathlib import Path
from typing import Any

import yaml

Files = tuple[Path, Path]
EVIL = "</p><script>alert(1)</script><img src=x onerror=alert(2)>"
ODD = "\u202eabc\u202c \u0007\u0000 \u05e9\u05dc\u05d5\u05dd"
"""An override that turns letters round, control characters, and letters that run from right to left."""
LOG_MEL: list[dict[str, Any]] = [
    {"decode_audio": {"library": "wave"}},
    {"mono": "mean"},
    {"frames": {"length": 200, "hop": 80}},
    {"window": "hann"},
    {"spectrum": {"n_fft": 256}},
    {"mel": {"count": 20, "scale": "htk", "norm": "none"}},
    {"log": {"base": "natural", "floor": 1e-10}},
]


def write_files(folder: Path, model: dict[str, Any], dataset: dict[str, Any]) -> Files:
    for name, found in (("model", model), ("dataset", dataset)):
        (folder / f"{name}.yml").write_text(yaml.safe_dump({"name": found.pop("name"), "version": "1.0.0", **found}))
    return folder / "model.yml", folder / "dataset.yml"


def recorded(task: str, name: str, answers: dict[str, Any], folder: Path, output: str) -> dict[str, Any]:
    lines = [json.dumps({"sample": each, "prediction": said}) for each, said in answers.items()]
    (folder / "answers.jsonl").write_text("\n".join(lines) + "\n")
    return {
        "name": name,
        "task": task,
        "framework": {"name": "recorded"},
        "inputs": [{"type": "general", "layer_name": "sample"}],
        "outputs": [{"type": output, "layer_name": "prediction"}],
        "source": {"graph_path": "answers.jsonl"},
    }


def write_rows(folder: Path, rows: list[dict[str, Any]]) -> None:
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")


def table(task: str, name: str, **columns: Any) -> dict[str, Any]:
    return {"name": name, "task": task, "format": "table", "columns": columns, "sources": [{"url": "rows.jsonl"}]}


def write_wav(path: Path, seconds: float, pitch: float = 440.0, rate: int = 8000) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        values = (math.sin(2 * math.pi * pitch * at * (1 + at / rate) / rate) for at in range(round(seconds * rate)))
        file.writeframes(b"".join(round(16000 * each).to_bytes(2, "little", signed=True) for each in values))


def write_keywords(folder: Path, steps: list[dict[str, Any]] | None = None, shape: int = 3) -> Files:
    """Sounds in folders of their classes; one has no samples at all."""
    for at, name in enumerate(("no", "yes", "yes")):
        write_wav(folder / "sounds" / name / f"{at}.wav", 0.4 + 0.2 * at, 300.0 + 200 * at)
    write_wav(folder / "sounds" / "no" / "nothing.wav", 0.0)
    (folder / "graph.json").write_text(json.dumps({"shape": [None] * shape, "classes": 2}))
    (folder / "classes.txt").write_text("no\nyes\n")
    model = {
        "name": "keywords",
        "task": "audio_classification",
        "framework": {"name": "fake"},
        "inputs": [{"type": "audio", "element_type": "float32", "processing": LOG_MEL if steps is None else steps}],
        "outputs": [{"type": "logits", "features_url": "classes.txt"}],
        "source": {"graph_path": "graph.json"},
    }
    sources = [{"url": "sounds"}]
    more = {"task": "audio_classification", "format": "audio", "classes_url": "classes.txt"}
    return write_files(folder, model, {"name": "words", **more, "sources": sources})


def write_speech(folder: Path) -> Files:
    """Two sounds with what is said in them, and a transcript that has other words."""
    said = {"take-1": "the cat sat on the mat", "take-2": "good morning"}
    answers = {"take-1.wav": f"the hat sat {EVIL} on mat", "take-2.wav": "good morning"}
    for at, name in enumerate(said):
        write_wav(folder / "sounds" / f"{name}.wav", 0.5 + at, 350.0)
    (folder / "texts.txt").write_text("".join(f"{text} ({name})\n" for name, text in said.items()))
    model = recorded("speech_recognition", "listener", answers, folder, "text")
    sources = [{"url": "sounds", "labels_url": "texts.txt"}]
    return write_files(
        folder, model, {"name": "speech", "task": "speech_recognition", "format": "audio", "sources": sources}
    )


def write_numbers(folder: Path, count: int = 40) -> Files:
    """A line with a curve in it, which the answers follow without the curve; one answer is not a number."""
    truth = {f"row-{at}": 0.5 * at + 0.01 * (at - 20) ** 2 for at in range(count)}
    answers: dict[str, Any] = {name: 0.5 * at for at, name in enumerate(truth)}
    answers["row-7"] = "NaN"
    write_rows(folder, [{"id": name, "x": at, EVIL: ODD, "y": truth[name]} for at, name in enumerate(truth)])
    model = recorded("tabular_regression", "line", answers, folder, "number")
    return write_files(folder, model, table("tabular_regression", "curve", id="id", features=["x", EVIL], target="y"))


def write_alike(folder: Path) -> Files:
    """Pairs of texts, which people rate from 0 to 5 and the model from 0 to 1."""
    pairs = [("a cat", "a cat sits", 4.5, 0.8), (f"a dog {EVIL}", "a car", 0.5, 0.9), ("one " + ODD, "", 2.5, 0.5)]
    rows = [{"id": f"pair-{at}", "one": one, "two": two, "y": y} for at, (one, two, y, _) in enumerate(pairs)]
    write_rows(folder, rows)
    answers = {f"pair-{at}": said for at, (*_, said) in enumerate(pairs)}
    model = recorded("text_similarity", "rater", answers, folder, "number")
    return write_files(
        folder, model, table("text_similarity", "pairs", id="id", text="one", text_pair="two", target="y")
    )


def write_library(folder: Path) -> Files:
    """Questions about animals, and texts that are found for them by vectors of two numbers."""
    texts = {"d1": "Cats purr.", "d2": f"Dogs bark {EVIL}.", "d3": f"Fish swim {ODD}.", "d4": "Cats sleep all day."}
    vectors = {
        "d1": [1.0, 0.1],
        "d2": [0.1, 1.0],
        "d3": [-1.0, 0.2],
        "d4": [0.2, 0.9],
        "q1": [1.0, 0.0],
        "q2": [0.0, 1.0],
    }
    rows: list[dict[str, Any]] = [
        {"id": name, "text": text, "role": "document", "relevant": {}} for name, text in texts.items()
    ]
    rows.append({"id": "q1", "text": f"What do cats do? {EVIL}", "role": "query", "relevant": {"d1": 1, "d4": 2}})
    rows.append({"id": "q2", "text": "What barks?", "role": "query", "relevant": {"d2": 1}})
    write_rows(folder, rows)
    model = recorded("embedding", "finder", vectors, folder, "embedding")
    return write_files(
        folder, model, table("embedding", "animals", id="id", text="text", role="role", target="relevant")
    )


def write_series(folder: Path) -> Files:
    """Three values each of five series."""
    rows = [{"id": f"series-{at}", "x": at, "y": [at, 2.0 * at, 3.0 * at]} for at in range(5)]
    write_rows(folder, rows)
    answers = {f"series-{at}": [at + 0.5, 2.0 * at, 3.5 * at] for at in range(5)}
    model = recorded("time_series_forecasting", "seer", answers, folder, "number")
    return write_files(folder, model, table("time_series_forecasting", "series", id="id", features=["x"], target="y"))


def write_people(folder: Path) -> Files:
    """A text with names in it; the model finds one of them, and something else."""
    words, tags = ["Ada", "Lovelace", "met", EVIL, "Babbage", ODD], ["B-PER", "I-PER", "O", "O", "B-PER", "O"]
    write_rows(folder, [{"id": "text-1", "tokens": words, "tags": tags}])
    spans = [[0, 12, "PER"], [13, 16, "<b>LOC"]]
    answers = {"text-1": spans}
    model = recorded("token_classification", "namer", answers, folder, "general")
    return write_files(folder, model, table("token_classification", "people", id="id", text="tokens", target="tags"))


WORLDS = {
    "audio_classification": write_keywords,
    "speech_recognition": write_speech,
    "tabular_regression": write_numbers,
    "text_similarity": write_alike,
    "embedding": write_library,
    "time_series_forecasting": write_series,
    "token_classification": write_people,
}
