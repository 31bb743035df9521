"""What language models lose under the product: tokens in a second offline, and what each token costs beside the engine.

Offline, batches of random prompts are continued greedily, by the product (`bench --scenario offline --random`) and by
the engine's own loop in turns: `session.run` with the past fed back for ONNX Runtime, `model.generate` for transformers
where this Python has it. The model is a random Llama; `--model FOLDER` takes another one, which holds model.onnx or
safetensors. Both sides have one thread. `--device cuda` asks both on a GPU; `--sizes smollm2` makes the random Llama as
large as SmolLM2-135M.

Beside an engine that answers at once, what is left is ours: the CPU time of each token, for a graph with as many layers
as a small and a middling model.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import harness
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from mlmodelscope_worker.causal_graph import language_model_of
from mlmodelscope_worker.predictor.predictor import Predictor, Tensor
from mlmodelscope_worker.scenario.load.random_questions import random_questions

GOAL, GOAL_US = 0.95, 50
BATCH, PROMPT, ANSWER = 8, 64, 64
# Width, width inside, layers, heads, heads of keys and values, tokens, longest text.
SIZED = {"small": (256, 688, 6, 8, 4, 4096, 512), "smollm2": (576, 1536, 30, 9, 3, 49152, 2048)}
NAMES = {"onnxruntime": "model.onnx", "transformers": "model.safetensors"}
SETTINGS = {
    "longest": 256,
    "stop": [],
    "stop_tokens": [],
    "temperature": 0.0,
    "top_k": None,
    "top_p": None,
    "seed": 0,
}


def make_models(folder: Path, engines: list[str], sizes: tuple[int, ...]) -> None:
    """One random Llama for all engines."""
    from worker_package.predictor import llamas

    source = np.random.RandomState(0)
    weights = {name: source.randn(*shape).astype("<f4") * 0.05 for name, shape in llamas.shapes(sizes)}
    pieces = [(each, 0.0) for each in llamas.SPECIAL] + [(b"<0x%02X>" % byte, 0.0) for byte in range(256)]
    pieces += [(b"w%d" % place, 0.0) for place in range(sizes[5] - len(pieces))]
    made = llamas.Llama(sizes, weights, pieces)
    if "onnxruntime" in engines:
        from worker_package.predictor.onnx_llama import write_onnx

        write_onnx(made, folder)
    if "transformers" in engines:
        llamas.write_folder(made, folder)


def prompts(size: int, longest: int | None) -> list[list[int]]:
    """Those that the product asks."""

    class Known:
        takes_words = False

    known: Any = Known()
    known.size, known.longest = size, longest
    asked = random_questions(known, {"seed": 0, "shapes": {"prompt": [PROMPT], "answer": [ANSWER]}})
    return [each.tokens[0][0] for each in asked]


def onnxruntime_loop(folder: Path, device: str) -> Callable[[], int]:
    """The least code that continues batches: the past goes from one call to the next as it is."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    pasts = [name.replace("present", "past_key_values") for name in names[1:]]
    shapes = {each.name: each.shape for each in session.get_inputs()}
    asked = np.array(prompts(session.get_outputs()[0].shape[2], None), np.int64)

    def batch(tokens: np.ndarray) -> int:
        rows, seen = len(tokens), tokens.shape[1]
        past = {name: np.zeros((rows, shapes[name][1], 0, shapes[name][3]), np.float32) for name in pasts}
        feeds: dict[str, Any] = {"input_ids": tokens, "position_ids": np.repeat(np.arange(seen)[None], rows, axis=0)}
        for _ in range(ANSWER):
            feeds["attention_mask"] = np.ones((rows, seen), np.int64)
            logits, *kept = session.run(names, {**feeds, **past})
            past = dict(zip(pasts, kept, strict=True))
            feeds["input_ids"] = logits[:, -1].argmax(axis=-1)[:, None]
            feeds["position_ids"] = np.full((rows, 1), seen)
            seen += 1
        return rows * ANSWER

    return lambda: sum(batch(asked[start : start + BATCH]) for start in range(0, len(asked), BATCH))


def transformers_loop(folder: Path, device: str) -> Callable[[], int]:
    """`generate`, as its users call it."""
    import torch
    import transformers

    torch.set_num_threads(1)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval().to(device)
    asked = torch.tensor(prompts(model.config.vocab_size, model.config.max_position_embeddings), device=device)

    def batch(tokens: Any) -> int:
        mask = torch.ones_like(tokens)
        asked = {"max_new_tokens": ANSWER, "min_new_tokens": ANSWER, "do_sample": False, "pad_token_id": 0}
        with torch.inference_mode():
            return int(model.generate(tokens, attention_mask=mask, **asked)[:, PROMPT:].numel())

    return lambda: sum(batch(asked[start : start + BATCH]) for start in range(0, len(asked), BATCH))


LOOPS = {"onnxruntime": onnxruntime_loop, "transformers": transformers_loop}


def own_loop(engine: str, folder: Path, device: str, seconds: float) -> None:
    call = LOOPS[engine](folder, device)
    call()
    started, tokens = time.perf_counter(), 0
    while time.perf_counter() - started < seconds:
        tokens += call()
    harness.say(tokens / (time.perf_counter() - started))


def product(engine: str, folder: Path, device: str, seconds: float) -> None:
    from mlmodelscope import Options, Settings
    from mlmodelscope.benching import Request, bench
    from mlmodelscope.manifest.load import load_manifest

    manifest = {
        "name": "throughput",
        "version": "1.0.0",
        "task": "language_model",
        "framework": {"name": engine},
        "inputs": [{"type": "prompt", "processing": {"encode_prompt": {}}}],
        "source": {"graph_path": str(folder)},
    }
    with tempfile.TemporaryDirectory() as home:
        record = bench(
            load_manifest(manifest),
            None,
            Options(batch_size=BATCH, threads=1, predictor_options={"device": device} if device != "cpu" else {}),
            Request(scenario="offline", budget_s=seconds, processes=1),
            random={"prompt": [PROMPT], "answer": [ANSWER]},
            settings=Settings(Path(home) / "home", Path(home) / "cache"),
        )
    assert record.bench is not None and record.bench.measured is not None
    tokens = record.bench.measured.tokens
    assert tokens is not None and tokens.written == ANSWER * tokens.texts
    harness.say(tokens.written_per_s)


class Instant(Predictor):
    """A graph that answers at once."""

    outputs_last = True

    def __init__(self, layers: int, size: int) -> None:
        kinds = [f"{layer}.{kind}" for layer in range(layers) for kind in ("key", "value")]
        self.inputs = [Tensor(name, "int64", (None, None)) for name in ("input_ids", "attention_mask", "position_ids")]
        self.inputs += [Tensor(f"past_key_values.{each}", "float32", (None, 3, None, 8)) for each in kinds]
        self.outputs = [Tensor("logits", "float32", (None, None, size))]
        self.outputs += [Tensor(f"present.{each}", "float32", (None, 3, None, 8)) for each in kinds]
        scores = np.random.RandomState(0).randn(1, 1, size).astype(np.float32)
        self._answer = [scores, *[np.zeros((1, 3, 1, 8), np.float32) for _ in kinds]]

    def run(self, tensors: Any) -> Any:
        return self._answer


def token_us(layers: int, size: int, times: int) -> float:
    """CPU microseconds of each token, the least of some texts."""
    model, count = language_model_of(Instant(layers, size), ""), int(SETTINGS["longest"])

    def text() -> float:
        start = time.thread_time()
        model.write([[1]], SETTINGS, lambda tokens: "", lambda text: False)
        return time.thread_time() - start

    return min(text() for _ in range(times)) / count * 1e6


def engines_of(folder: Path | None, device: str) -> Iterator[str]:
    for engine, needs in (("onnxruntime", ("onnxruntime", "onnx")), ("transformers", ("transformers", "safetensors"))):
        if device != "cpu" and engine == "onnxruntime":
            continue
        is_there = all(find_spec(each) is not None for each in needs)
        if is_there and (folder is None or (folder / NAMES[engine]).exists()):
            yield engine


def compared(folder: Path, engine: str, device: str, rounds: int, seconds: float) -> list[dict[str, float]]:
    ways = {name: harness.part(__file__, name, engine, folder, device, seconds) for name in ("product", "own_loop")}
    ran = harness.interleave(
        {name: lambda each=each: harness.run_child(each).said for name, each in ways.items()}, rounds
    )
    return [dict(zip(ran, each, strict=True)) for each in zip(*ran.values(), strict=True)]


def main(arguments: argparse.Namespace) -> None:
    rounds, seconds, times = (1, 2.0, 3) if arguments.quick else (5, 10.0, 30)
    found, rows = {}, []
    with tempfile.TemporaryDirectory() as made:
        engines = list(engines_of(arguments.model, arguments.device))
        if arguments.model is None:
            make_models(Path(made), engines, SIZED[arguments.sizes])
        for engine in engines:
            runs = compared(arguments.model or Path(made), engine, arguments.device, rounds, seconds)
            ratios = [each["product"] / each["own_loop"] for each in runs]
            found[engine] = {"runs": runs, "ratio": median(ratios)}
            speeds = (harness.spread([each[name] for each in runs], 0) for name in ("product", "own_loop"))
            rows.append((engine, *speeds, harness.spread(ratios)))
    harness.print_table((f"batches of {BATCH}, tokens/s", "product", "its own loop", "ratio"), rows)
    costs = {f"{layers} layers, {size} tokens": token_us(layers, size, times) for layers, size in SIZES}
    print()
    harness.print_table(("ours, beside an engine that answers at once", "µs CPU a token"), _rows(costs))
    print(f"\ngoals: at least {GOAL} of the engine's own tokens a second, at most {GOAL_US} µs a token")
    where = {"device": arguments.device, "sizes": arguments.sizes}
    results = {**where, "engines": found, "token_us": costs, "batch": BATCH, "prompt": PROMPT, "answer": ANSWER}
    meaning = "offline tokens a second, ours / the engine's own loop, the lowest of the engines"
    harness.finish(
        "language_throughput", min(each["ratio"] for each in found.values()), meaning, arguments.quick, results
    )


SIZES = ((6, 4096), (30, 49152))


def _rows(costs: dict[str, float]) -> list[tuple[str, str]]:
    return [(name, f"{cost:.1f}") for name, cost in costs.items()]


if __name__ == "__main__":
    parser = harness.options(__doc__ or "")
    parser.add_argument("--model", type=Path, help="a folder with model.onnx, or config.json and safetensors")
    parser.add_argument("--device", default="cpu", help="cpu, or cuda for engines that know it")
    parser.add_argument("--sizes", choices=SIZED, default="small", help="of the random Llama")
    parser.add_argument("--part", nargs=5, metavar=("WAY", "ENGINE", "FOLDER", "DEVICE", "SECONDS"))
    asked = parser.parse_args()
    if asked.part:
        way, engine, folder, device, seconds = asked.part
        {"product": product, "own_loop": own_loop}[way](engine, Path(folder), device, float(seconds))
    else:
        main(asked)
