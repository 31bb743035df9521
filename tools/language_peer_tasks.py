"""Small tasks in the form of lm-evaluation-harness, with documents made up from a seed: one for each way to ask."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

_NAMES = ("Lily", "Tom", "Ben", "Sue", "Mia", "Max", "Anna", "Tim")
_THINGS = ("ball", "dog", "cat", "park", "tree", "car", "box", "hat", "bird", "cake")
_DOINGS = ("played with", "saw", "wanted", "liked", "looked at", "found", "lost")
_HOW = ("big", "red", "small", "happy", "old", "blue", "sad", "nice")


def _sentence(draw: random.Random) -> str:
    return f"{draw.choice(_NAMES)} {draw.choice(_DOINGS)} the {draw.choice(_HOW)} {draw.choice(_THINGS)}."


def _documents(count: int, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Documents of each kind."""
    draw = random.Random(seed)
    found: dict[str, list[dict[str, Any]]] = {each: [] for each in ("hellaswag", "arc", "lambada", "pages", "sums")}
    found["winogrande"] = []
    for number in range(count):
        found["hellaswag"].append(
            {
                "ctx": f"{_sentence(draw)} Then" + " " * (number % 3),
                "endings": [_sentence(draw) for _ in range(4)],
                "label": str(draw.randrange(4)),
            }
        )
        letters = "ABCD" if number % 4 else "1234"
        found["arc"].append(
            {
                "question": f"What did {draw.choice(_NAMES)} see, é or ü?",
                "choices": {
                    "text": [f"a {draw.choice(_HOW)} {each}" for each in draw.sample(_THINGS, 4)],
                    "label": list(letters),
                },
                "answerKey": draw.choice(letters),
            }
        )
        found["lambada"].append({"text": f"{_sentence(draw)} {_sentence(draw)}"[:-1]})
        found["pages"].append({"page": " ".join(_sentence(draw) for _ in range(1 + number * 9)) + "\n" * (number % 2)})
        first, second = draw.randrange(2, 60), draw.randrange(2, 60)
        found["sums"].append(
            {
                "question": f"{draw.choice(_NAMES)} has {first} hats and finds {second}. How many are there?",
                "answer": f"{first} and {second} are {first + second}.\n#### {first + second}",
            }
        )
        found["winogrande"].append(
            {
                "sentence": f"{_sentence(draw)} So _ was {draw.choice(_HOW)} and went home.",
                "option1": draw.choice(_NAMES),
                "option2": draw.choice(_NAMES),
                "label": draw.randrange(2),
            }
        )
    return found


_COMMON = {"dataset_path": "json", "test_split": "test", "metadata": {"version": 1.0}}
_CHOICE: dict[str, Any] = {
    "output_type": "multiple_choice",
    "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}, {"metric": "acc_bytes"}],
}
_HELLASWAG: dict[str, Any] = {
    **_CHOICE,
    "data": "hellaswag",
    "doc_to_text": "{{ctx}}",
    "doc_to_target": "{{label}}",
    "doc_to_choice": "endings",
}
_ARC: dict[str, Any] = {
    **_CHOICE,
    "data": "arc",
    "doc_to_text": "Question: {{question}}\nAnswer:",
    "doc_to_target": "{{choices.label.index(answerKey)}}",
    "doc_to_choice": "{{choices.text}}",
}
_SUMS: dict[str, Any] = {
    "data": "sums",
    "output_type": "generate_until",
    "doc_to_text": "Question: {{question}}\nAnswer:",
    "doc_to_target": "{{answer.split('####')[-1].strip()}}",
    "metric_list": [{"metric": "exact_match", "ignore_case": True, "regexes_to_ignore": [",", "\\.$"]}],
    "generation_kwargs": {"until": ["Question:", "\n\n"], "do_sample": False, "max_gen_toks": 24},
    "filter_list": [
        {
            "name": "last",
            "filter": [
                {"function": "regex", "group_select": -1, "regex_pattern": "(-?[$0-9.,]{2,})|(-?[0-9]+)"},
                {"function": "take_first"},
            ],
        }
    ],
}
_LAMBADA: dict[str, Any] = {
    "data": "lambada",
    "output_type": "loglikelihood",
    "doc_to_text": "{{text.split(' ')[:-1]|join(' ')}}",
    "doc_to_target": "{{' '+text.split(' ')[-1]}}",
    "metric_list": [{"metric": "perplexity"}, {"metric": "acc"}],
}
TASKS: dict[str, dict[str, Any]] = {
    "hellaswag_0": _HELLASWAG,
    "hellaswag_1": {**_HELLASWAG, "fewshot_split": "train", "num_fewshot": 1},
    "hellaswag_5": {
        **_HELLASWAG,
        "fewshot_split": "test",
        "num_fewshot": 5,
        "description": "What comes next?\n\n",
        "fewshot_delimiter": "\n",
    },
    "arc_0": {**_ARC, "target_delimiter": ""},
    "arc_5_first": {
        **_ARC,
        "fewshot_split": "train",
        "num_fewshot": 5,
        "fewshot_config": {"sampler": "first_n"},
        "description": "Questions about {{question.split(' ')[2]}}.",
    },
    "arc_own_first": {**_ARC, "fewshot_split": "test", "num_fewshot": 2, "fewshot_config": {"sampler": "first_n"}},
    "arc_unsaid": {**_ARC, "training_split": "train", "num_fewshot": 2, "target_delimiter": "\n"},
    "arc_given": {
        **_ARC,
        "num_fewshot": 2,
        "fewshot_config": {
            "sampler": "first_n",
            "samples": [
                {"question": "Who?", "choices": {"text": ["a dog", "a cat"], "label": ["A", "B"]}, "answerKey": "B"},
                {"question": "What?", "choices": {"text": ["a car", "a hat"], "label": ["A", "B"]}, "answerKey": "A"},
            ],
        },
    },
    "arc_letters": {
        **_ARC,
        "doc_to_text": "{{question}}\n{% for t in choices.text %}{{loop.index}}. {{t}}\n{% endfor %}Answer:",
        "doc_to_choice": ["A", "B", "C", "D"],
    },
    "arc_mutual": {
        **_ARC,
        "metric_list": [{"metric": "acc"}, {"metric": "acc_mutual_info"}],
    },
    "winogrande_0": {
        **_CHOICE,
        "data": "winogrande",
        "doc_to_text": "label",
        "doc_to_target": "{{sentence.split('_')[1].strip()}}",
        "doc_to_choice": "{{[sentence.split('_')[0] + option1, sentence.split('_')[0] + option2]}}",
    },
    "lambada_0": _LAMBADA,
    "lambada_1": {**_LAMBADA, "fewshot_split": "train", "num_fewshot": 1},
    "wikitext": {
        "data": "pages",
        "output_type": "loglikelihood_rolling",
        "doc_to_text": "",
        "doc_to_target": "{{page}}",
        "metric_list": [{"metric": "word_perplexity"}, {"metric": "byte_perplexity"}, {"metric": "bits_per_byte"}],
    },
    "sums_0": _SUMS,
    "sums_5": {**_SUMS, "fewshot_split": "train", "num_fewshot": 5},
}
TASKS["winogrande_1"] = {**TASKS["winogrande_0"], "fewshot_split": "train", "num_fewshot": 1}


def write_tasks(folder: Path, names: list[str], count: int = 16, seed: int = 7) -> None:
    """Task files and their documents; JSON is YAML, too."""
    for split, number in (("test", seed), ("train", seed + 1)):
        for kind, documents in _documents(count, number).items():
            lines = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in documents)
            (folder / f"{kind}-{split}.jsonl").write_text(lines, encoding="utf-8")
    for name in names:
        told = {**_COMMON, **TASKS[name], "task": f"peer_{name}"}
        kind = told.pop("data")
        files = {split: str((folder / f"{kind}-{split}.jsonl").resolve()) for split in ("test", "train")}
        told["dataset_kwargs"] = {"data_files": files}
        (folder / f"{name}.yaml").write_text(json.dumps(told, indent=1, ensure_ascii=False), encoding="utf-8")
