"""`show MODEL DATASET --sample N`: the exact characters and tokens of a prompt, and where each part of it ends."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import language_world
from cli.command import Call, Run

pytest.importorskip("jinja2")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    lines = ["the cat sat on the mat\n", "the dog sat on the rug\n"]
    graph = language_world.write_arpa(tmp_path / "pets.arpa", [language_world.pieces_of(each) for each in lines])
    processing: dict[str, Any] = {"encode_prompt": {"start": 0}}
    model = {
        "name": "pets",
        "version": "1.0.0",
        "task": "language_model",
        "framework": {"name": "ngram"},
        "inputs": [{"type": "prompt", "processing": processing}],
        "source": {"graph_path": graph.name},
    }
    (tmp_path / "pets.yml").write_text(yaml.safe_dump(model))
    documents = [
        {"q": 'the "cat"\n\tsat\u202e\x1b[2J', "a": ["the mat", "gur"], "label": 0},
        {"q": "the dog", "a": ["a"]},
    ]
    language_world.write_documents(tmp_path / "ends.jsonl", documents)
    dataset = {
        "name": "ends",
        "version": "1.0.0",
        "task": "multiple_choice",
        "format": "documents",
        "sources": [{"url": "ends.jsonl"}],
        "prompt": {"question": "{{q}}", "choices": ["a"]},
    }
    (tmp_path / "ends.yml").write_text(yaml.safe_dump(dataset))
    return tmp_path


def show(call: Call, place: Path, *words: str) -> str:
    return call("show", str(place / "pets.yml"), str(place / "ends.yml"), *words)


def test_a_prompt_is_shown_with_its_tokens_and_its_parts(call: Call, place: Path) -> None:
    lines = show(call, place, "--sample", "1").splitlines()
    assert lines[0].startswith("# pets@1.0.0 on ends@1.0.0, plan ") and "2 of 2" in lines[1]
    assert "context (7 bytes, 8 tokens)" in lines and '  "the dog"' in lines
    assert "choice 0 (2 bytes, 2 tokens)" in lines and '  " a"' in lines
    assert any(each.startswith('  tokens: 0 "<s>"  ') for each in lines)


def test_nothing_of_a_prompt_reaches_the_terminal_as_it_is(call: Call, place: Path) -> None:
    """Characters that a terminal obeys, or that turn what is read around, are spelled out."""
    text = show(call, place, "--sample", "00000")
    assert '  "the \\"cat\\"\\n"\n  "\\tsat\\u202e\\u001b[2J"\n' in text
    assert "\x1b" not in text and "\u202e" not in text


def test_programs_get_the_same_with_every_character(call: Call, place: Path) -> None:
    found = json.loads(show(call, place, "--sample", "0", "--json"))
    assert found["contexts"][0]["text"] == 'the "cat"\n\tsat\u202e\x1b[2J' and found["call"] == "choose"
    assert [each["choice"] for each in found["rows"]] == [0, 1]
    assert all(len(each["tokens"]) == len(each["pieces"]) for each in (*found["contexts"], *found["rows"]))


def test_a_sample_that_is_not_there_is_named(place: Path, run: Run) -> None:
    for which in ("2", "-1", "nobody", "9" * 5000):
        done = run("show", str(place / "pets.yml"), str(place / "ends.yml"), "--sample", which)
        assert done.returncode == 2 and "has no sample" in done.stderr and "from 0 to 1" in done.stderr, done.stderr


def test_a_model_without_prompts_and_a_dataset_without_sample_are_refused(place: Path, run: Run) -> None:
    done = run("show", str(place / "pets.yml"), str(place / "ends.yml"))
    assert done.returncode == 2 and "--sample 0" in done.stderr
    done = run("show", "efficientnet-lite0", "imagenet-70", "--sample", "0", "--offline")
    assert done.returncode in (1, 2) and ("is not a language model" in done.stderr or "offline" in done.stderr)
