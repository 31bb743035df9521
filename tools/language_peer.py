"""lm-evaluation-harness and we, on the same model and the same task files: `language_peer.py MODEL --peer PYTHON`.

`MODEL` is a folder for transformers, `--peer` the Python of an environment with torch, transformers, lm_eval[hf] and
what this package needs (or the variable MLMODELSCOPE_LM_EVAL). Accuracies and perplexities must be equal, and the
logarithm of each request's probability within 1e-4. Tasks are those of `language_peer_tasks.py`, or files named by
`--task`, which lie beside their data.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from language_peer_tasks import TASKS, write_tasks

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 1e-4
VARIABLE = "MLMODELSCOPE_LM_EVAL"
_MANIFEST = """\
name: peer-model
version: 1.0.0
task: language_model
framework: {{name: transformers}}
inputs:
  - type: prompt
    processing: {{encode_prompt: {{special_tokens: once}}}}
source: {{graph_path: {folder}}}
"""


@dataclass(frozen=True)
class Compared:
    """One task: its numbers, theirs and ours, and the largest distance of two logarithms."""

    task: str
    theirs: dict[str, float]
    ours: dict[str, float]
    apart: float
    texts_differ: int

    @property
    def agrees(self) -> bool:
        same = all(_same(name, self.theirs[name], self.ours.get(name), self.apart) for name in self.theirs)
        return bool(self.theirs) and same and self.apart <= TOLERANCE and not self.texts_differ


def _distance(theirs: float, ours: float) -> float:
    """Of sums over hundreds of tokens, which the harness adds up in float32, a share counts: 1e-4 of a hundred."""
    return abs(theirs - ours) / max(1.0, abs(theirs) / 100)


def _same(name: str, theirs: float, ours: float | None, apart: float) -> bool:
    """Shares to the last digit; a perplexity is a power of mean logarithms and moves by as much as those do."""
    moves = max(1e-6, apart) if any(word in name for word in ("perplexity", "bits_per_byte")) else 1e-9
    return ours is not None and math.isclose(theirs, ours, rel_tol=moves, abs_tol=1e-12)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--peer", default=os.environ.get(VARIABLE))
    parser.add_argument("--task", type=Path, action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--limit", type=int)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--work", type=Path)
    told = parser.parse_args(arguments)
    if not told.peer:
        print(f"no environment with lm_eval: --peer PYTHON, or {VARIABLE}")
        return 2
    work = told.work or Path(tempfile.mkdtemp(prefix="language-peer-"))
    compared = []
    try:
        for each in compare(told, work):
            compared.append(each)
            _show(each)
    finally:
        if told.work is None:
            shutil.rmtree(work, ignore_errors=True)
    return 0 if compared and all(each.agrees for each in compared) else 1


def _show(each: Compared) -> None:
    print(f"{'agrees ' if each.agrees else 'DIFFERS'} {each.task}: largest distance {each.apart:.1e}", end="")
    print(f", {each.texts_differ} texts differ" if each.texts_differ else "")
    for name, value in each.theirs.items():
        print(f"    {name:28} theirs {value!r:24} ours {each.ours.get(name)!r}", flush=True)


def compare(told: argparse.Namespace, work: Path) -> Iterator[Compared]:
    tasks = work / "tasks"
    tasks.mkdir(parents=True, exist_ok=True)
    files = [each.resolve() for each in told.task]
    for each in files:
        shutil.copy(each, tasks / each.name)
    if not files:
        names = told.only or list(TASKS)
        write_tasks(tasks, names, told.count)
        files = [tasks / f"{name}.yaml" for name in names]
    by_name = {json.loads(each.read_text())["task"]: each for each in files}
    theirs = _run_theirs(told, tasks, list(by_name), work)
    (work / "model.yml").write_text(_MANIFEST.format(folder=told.model.resolve()))
    for name, file in by_name.items():
        found = _run_ours(told, work, file)
        yield _compared(name, theirs["results"], _samples_of(theirs, name), found)


def _run_theirs(told: argparse.Namespace, tasks: Path, names: list[str], work: Path) -> dict[str, Any]:
    out = work / "theirs.json"
    command = [told.peer, __file__, "--theirs", str(told.model.resolve()), str(tasks), str(out)]
    _run([*command, str(told.batch_size), str(told.limit or 0), *names], work)
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def _run_ours(told: argparse.Namespace, work: Path, file: Path) -> dict[str, Any]:
    command = [told.peer, __file__, "--ours", str(work / "model.yml"), str(file), str(told.batch_size)]
    ran = _run([*command, str(told.limit or 0)], work)
    found: dict[str, Any] = json.loads(ran.splitlines()[-1])
    return found


def _run(command: list[str], work: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "HOME": str(work), "HF_HUB_OFFLINE": "1"}
    environment.update(HF_DATASETS_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    ran = subprocess.run(command, env=environment, cwd=work, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{' '.join(command[:4])} … failed:\n{ran.stdout[-2000:]}\n{ran.stderr[-4000:]}")
    return ran.stdout


def _samples_of(theirs: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return sorted(theirs["samples"][name], key=lambda each: int(each["doc_id"]))


def _compared(name: str, theirs: dict[str, Any], samples: list[dict[str, Any]], ours: dict[str, Any]) -> Compared:
    told = {key: value for key, value in theirs[name].items() if isinstance(value, float) and "stderr" not in key}
    measured = {key: ours["metrics"].get(ours["names"].get(key.partition(",")[0], "")) for key in told}
    apart, differ = 0.0, 0
    for sample, row in zip(samples, ours["rows"], strict=True):
        if row.get("text") is not None:
            differ += row["text"] != sample["resps"][0][0]
            continue
        responses = sample["resps"]
        logs = [float(each[0][0] if isinstance(each[0], list) else each[0]) for each in responses]
        mine = row["sums"] if len(logs) > 1 else [sum(row["sums"])]
        apart = max([apart, *(_distance(one, two) for one, two in zip(logs, mine, strict=False))])
        if len(mine) > len(logs):
            apart = math.inf
    return Compared(name, told, measured, apart, differ)


def theirs(model: str, folder: str, out: str, batch_size: int, limit: int, names: list[str]) -> None:
    """In the peer's environment: `lm_eval run --model hf`, without errors by bootstrap, which take minutes."""
    lm_eval = importlib.import_module("lm_eval")
    manager = importlib.import_module("lm_eval.tasks").TaskManager

    found = lm_eval.simple_evaluate(
        model="hf",
        model_args=f"pretrained={model},dtype=float32",
        tasks=names,
        task_manager=manager(include_path=folder, include_defaults=False),
        batch_size=batch_size,
        limit=limit or None,
        device="cpu",
        bootstrap_iters=0,
        log_samples=True,
    )
    kept = {"results": found["results"], "samples": found["samples"]}
    Path(out).write_text(json.dumps(kept, default=str), encoding="utf-8")


def _first(task: str, limit: int) -> str:
    """The task file with the first documents only: the harness takes those, and we take a sample of all."""
    if not limit:
        return task
    told = json.loads(Path(task).read_text(encoding="utf-8"))
    listed = told["dataset_kwargs"]["data_files"]
    file = Path(listed["test"])
    cut = file.with_name(f"first-{limit}-{file.name}")
    lines = file.read_text(encoding="utf-8").split("\n")
    cut.write_text("\n".join(lines[:limit]) + "\n", encoding="utf-8")
    listed["test"] = str(cut)
    made = Path(task).with_name(f"first-{limit}-{Path(task).name}")
    made.write_text(json.dumps(told), encoding="utf-8")
    return str(made)


def ours(model: str, task: str, batch_size: int, limit: int) -> None:
    """In the peer's environment: one evaluation, as a line of JSON."""
    import pyarrow.parquet as pq

    from mlmodelscope import Options, evaluate
    from mlmodelscope.manifest.load import open_document

    record = evaluate(model, _first(task, limit), Options(batch_size=batch_size))
    (table,) = Path.home().rglob(f"records/{record.id}/samples.parquet")
    names = open_document(task).data["attributes"]["lm_eval"]["metrics"]
    columns = [each for each in ("sums", "text", "error") if each in pq.read_schema(table).names]
    rows = pq.read_table(table, columns=columns).to_pylist()
    metrics = {name: metric.value for name, metric in record.metrics.items()}
    print(json.dumps({"metrics": metrics, "rows": rows, "names": dict(names)}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--theirs"]:
        theirs(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), int(sys.argv[6]), sys.argv[7:])
    elif sys.argv[1:2] == ["--ours"]:
        ours(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        sys.exit(main(sys.argv[1:]))
