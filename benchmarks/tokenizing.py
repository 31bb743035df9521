"""What steps of texts cost beside the library's own batch call: tokens, truncation, padding, three arrays a batch.

All use `tokenizers` in one thread with one vocabulary, trained here on made-up sentences, and make the same numbers.
The library cuts and fills a whole batch itself; ours goes through `tokenize`, `truncate`, `pad_tokens` and three
`take`s, as a session prepares a batch and stacks it. It finds out where tokens lie in their texts only when an answer
asks for that, so it is compared with `encode_batch_fast`, too, which never does. The ratio is to `encode_batch`.
"""

from __future__ import annotations

import os

os.environ.update(RAYON_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false")

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import harness
import numpy as np
from onnx import TensorProto, helper
from tokenizers import BertWordPieceTokenizer, Tokenizer

from mlmodelscope_worker.messages import PredictorTask, Task
from mlmodelscope_worker.output import ANSWER_STEPS
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.predictor import PREDICTORS
from mlmodelscope_worker.session import Session

BATCH, LONGEST, GOAL = 32, 32, 1.1
LAYERS = {"ids": "ids", "mask": "mask", "types": "types"}
SYLLABLES = [
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ka",
    "le",
    "mi",
    "no",
    "pu",
    "ra",
    "se",
    "ti",
    "vo",
    "an",
    "er",
    "in",
    "str",
]
STEPS_HERE: list[tuple[str, Any]] = [("truncate", LONGEST), ("pad_tokens", {"token": 0})]


def sentences(count: int) -> list[str]:
    """Of 5 to 40 words out of 3,000, the first ones more often, as in a language."""
    chance = random.Random(0)
    words = ["".join(chance.choices(SYLLABLES, k=chance.randint(1, 4))) for _ in range(3000)]
    weights = [1 / place for place in range(1, len(words) + 1)]
    return [" ".join(chance.choices(words, weights, k=chance.randint(5, 40))).capitalize() + "." for _ in range(count)]


def trained(folder: Path, texts: list[str]) -> Path:
    made = BertWordPieceTokenizer(lowercase=True)
    made.train_from_iterator(texts, vocab_size=2000, show_progress=False)
    whole = BertWordPieceTokenizer(made.get_vocab(), lowercase=True)
    whole.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


def three_inputs(folder: Path) -> Path:
    """A model that takes what models of texts take; it is opened, and never run."""
    nodes = [helper.make_node("Sum", ["a", "b", "c"], ["scores"])]
    casts = [
        helper.make_node("Cast", [name], [to], to=TensorProto.FLOAT) for name, to in zip(LAYERS, "abc", strict=True)
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in LAYERS]
    output = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", "t"])
    graph = helper.make_graph([*casts, *nodes], "sum", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder / "model.onnx"


def resolved(known: Any, steps: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    return [{"name": name, "parameters": known[name].resolve(given)} for name, given in steps]


def opened(folder: Path, tokenizer: Path) -> Session:
    first = ("tokenize", {"file": str(tokenizer), "special_tokens": True})
    inputs = [
        {
            "part": "text",
            "layer_name": layer,
            "element_type": "int64",
            "steps": resolved(STEPS, [first, *STEPS_HERE, ("take", name), ("cast", "int64")]),
        }
        for layer, name in LAYERS.items()
    ]
    return Session(
        Task(
            PredictorTask("onnxruntime", {"graph": str(three_inputs(folder))}, PREDICTORS["onnxruntime"].resolve({})),
            inputs,
            [{"role": "tensor", "layer_name": None, "place": 0, "steps": []}],
            {"steps": resolved(ANSWER_STEPS, [])},
            BATCH,
            "embedding",
        )
    )


def library(tokenizer: Path, way: str) -> Callable[[list[str]], list[list[np.ndarray]]]:
    found = Tokenizer.from_file(str(tokenizer))
    found.enable_truncation(LONGEST)
    found.enable_padding()
    encode = getattr(found, way)

    def call(texts: list[str]) -> list[list[np.ndarray]]:
        made = []
        for start in range(0, len(texts), BATCH):
            rows = encode(texts[start : start + BATCH])
            each = ([row.ids for row in rows], [row.attention_mask for row in rows], [row.type_ids for row in rows])
            made.append([np.array(some, np.int64) for some in each])
        return made

    return call


def ours(session: Session) -> Callable[[list[str]], list[list[np.ndarray]]]:
    def call(texts: list[str]) -> list[list[np.ndarray]]:
        made = []
        for start in range(0, len(texts), BATCH):
            samples = [{"parts": {"text": {"text": text}}} for text in texts[start : start + BATCH]]
            stacked = session.stack(session.prepare_all(samples, ()))
            made.append([each.copy() for each in stacked])  # the next batch is made in the same memory
        return made

    return call


def cpu_s(call: Callable[[Any], Any], texts: list[str]) -> tuple[float, Any]:
    start = time.process_time()
    told = call(texts)
    return time.process_time() - start, told


def same(one: list[list[np.ndarray]], two: list[list[np.ndarray]]) -> bool:
    batches = zip(one, two, strict=True)
    return all(np.array_equal(*each) for pair in batches for each in zip(*pair, strict=True))


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    count, times = (320, 3) if arguments.quick else (4000, 9)
    texts = sentences(count)
    with tempfile.TemporaryDirectory() as name:
        tokenizer = trained(Path(name), texts)
        calls = {way: library(tokenizer, way) for way in ("encode_batch", "encode_batch_fast")}
        calls["ours"] = ours(opened(Path(name), tokenizer))
        for call in calls.values():
            call(texts[:BATCH])  # whatever is imported late
        runs = [{name: cpu_s(call, texts) for name, call in calls.items()} for _ in range(times)]
    made = {name: told for name, (_, told) in runs[0].items()}
    faults = [f"{name} has other numbers" for name in calls if name != "ours" and not same(made[name], made["ours"])]
    spent_us = {name: 1e6 * median(each[name][0] for each in runs) / count for name in calls}
    head = (f"{count} sentences in batches of {BATCH}", "µs CPU a sentence")
    harness.print_table(head, [(name, f"{each:.1f}") for name, each in spent_us.items()])
    print(f"\ngoal: at most {GOAL} times the library's own")
    ratios = {way: median(each["ours"][0] / each[way][0] for each in runs) for way in calls if way != "ours"}
    print("".join(f"ours / {way}: {each:.2f}\n" for way, each in ratios.items()))
    results = {f"{name}_us": each for name, each in spent_us.items()}
    results |= {"sentences": count, "batch": BATCH, **{f"ratio_to_{way}": each for way, each in ratios.items()}}
    meaning = "CPU time of a text's steps, ours / the library's own batch call, encode_batch"
    harness.finish("tokenizing", ratios["encode_batch"], meaning, arguments.quick, results, faults)


if __name__ == "__main__":
    main()
