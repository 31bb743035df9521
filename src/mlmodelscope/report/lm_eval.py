"""A record of a language model in the form of lm-evaluation-harness's results and samples (version 0.4).

`lm-eval` is its results file, `lm-eval-samples` the file of samples that lies beside it. A record keeps what each
document was (its sha256), what was right and what the model said; the prompt's text is in the dataset, not in here.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.dialect.lm_eval_scores import MEASURES
from mlmodelscope.manifest.schema.task import ASKED
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.number import MeasuredNumber
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.task.quality import quality_of
from mlmodelscope.task.task import task_named

_OUTPUT_TYPES = {
    "multiple_choice": "multiple_choice",
    "language_modeling": "loglikelihood_rolling",
    "text_generation": "generate_until",
}
_FILTER = "none"
_UNKNOWN = "N/A"


def write_lm_eval(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    """The results file."""
    refuse_other_tasks(record, "lm-eval")
    name = task_of(record)
    numbers = {theirs_of(each, record.plan.task): number for each, number in record.metrics.items()}
    scores: dict[str, Any] = {"alias": name}
    for metric, number in numbers.items():
        scores[f"{metric},{_FILTER}"] = number.value
        scores[f"{metric}_stderr,{_FILTER}"] = _error_of(number)
    count = store.samples(record).num_rows
    done = max((each.samples for each in record.metrics.values()), default=0)
    model = f"{record.plan.model.name}@{record.plan.model.version}"
    found = {
        "results": {name: scores},
        "group_subtasks": {name: []},
        "configs": {name: _config(record)},
        "versions": {name: record.plan.dataset.version},
        "n-shot": {name: _shots(record)},
        "higher_is_better": {name: {metric: each.better == "higher" for metric, each in numbers.items()}},
        "n-samples": {name: {"original": count, "effective": done}},
        "config": {
            "model": "mlmodelscope",
            "model_args": {"pretrained": model, "predictor": record.plan.predictor.name},
            "batch_size": record.plan.scenario.batch_size,
            "limit": None,
            "random_seed": record.plan.seed,
        },
        "git_hash": None,
        "date": record.created_at.timestamp(),
        "model_source": "mlmodelscope",
        "model_name": model,
        "model_name_sanitized": model,
        "task_hashes": {name: record.plan.digest},
        "mlmodelscope": {"record": record.id, "plan": record.plan.digest, "package": record.worker_version},
    }
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_lm_eval_samples(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    """The file of samples, one a line."""
    refuse_other_tasks(record, "lm-eval-samples")
    found = (_sample(number, row, record) for number, row in enumerate(rows_of(record, store)))
    return "".join(json.dumps(each, ensure_ascii=False, allow_nan=False) + "\n" for each in found)


def refuse_other_tasks(record: Record, form: str) -> None:
    if record.plan.task not in ASKED:
        raise UsageError(
            f"`{form}` is for records of language models, and this one is of {record.plan.task}",
            hint="--format json has everything of any record",
        )


def task_of(record: Record) -> str:
    return record.plan.dataset.name


def rows_of(record: Record, store: Store) -> Iterator[dict[str, Any]]:
    for batch in store.samples(record).to_batches():
        yield from batch.to_pylist()


def theirs_of(name: str, task: str) -> str:
    """Their word for one of our measures; our own where they have none."""
    kinds = {"language_modeling": ("loglikelihood", "loglikelihood_rolling"), "text_generation": ("generate_until",)}
    for kind in kinds.get(task, (task,)):
        for theirs, ours in MEASURES.get(kind, {}).items():
            if ours == name:
                return theirs
    return name


def truth_of(row: Mapping[str, Any]) -> Any:
    """What is right: a choice's number, a text, or all that is known."""
    told = json.loads(row["target"]) if row.get("target") else None
    if not isinstance(told, Mapping):
        return told
    for key in ("choice", "answers", "texts"):
        if told.get(key) is not None:
            value = told[key]
            return value[0] if isinstance(value, list) and len(value) == 1 else value
    return dict(told)


def _error_of(number: MeasuredNumber) -> float | str:
    """The standard error of a share of samples that are right or wrong, as the harness has it; else unknown."""
    right = number.value * number.samples
    if number.unit != "share" or number.samples < 2 or not math.isclose(right, round(right), abs_tol=1e-6):
        return _UNKNOWN
    return math.sqrt(max(0.0, number.value * (1 - number.value)) / (number.samples - 1))


def _steps(record: Record) -> dict[str, Mapping[str, Any]]:
    return {each.name: each.parameters for each in (record.plan.input.steps if record.plan.input else ())}


def _shots(record: Record) -> int:
    return int(_steps(record).get("prompt", {}).get("shots") or 0)


def _config(record: Record) -> dict[str, Any]:
    steps = {
        name: {key: value for key, value in given.items() if value is not None}
        for name, given in _steps(record).items()
    }
    return {
        "task": task_of(record),
        "dataset_path": record.plan.dataset.name,
        "output_type": _OUTPUT_TYPES[record.plan.task],
        "num_fewshot": _shots(record),
        "repeats": int(steps.get("write", {}).get("repeats") or 1),
        "metadata": {"version": record.plan.dataset.version, "steps": steps, "measure": record.plan.measure},
    }


def _sample(number: int, row: Mapping[str, Any], record: Record) -> dict[str, Any]:
    answer = task_named(record.plan.task).plain(row) or {}
    said, taken = _responses(answer)
    quality = quality_of(row.get("score"))
    found = {
        "doc_id": number,
        "doc": {"id": row["id"], "sha256": row["digest"]},
        "target": truth_of(row),
        "arguments": {},
        "resps": said,
        "filtered_resps": taken,
        "filter": _FILTER,
        "metrics": ["quality"] if quality is not None else [],
        "doc_hash": row["digest"],
        "prompt_hash": row["digest"],
        "target_hash": hashlib.sha256(str(row.get("target")).encode()).hexdigest(),
    }
    if quality is not None:
        found["quality"] = quality
    return found | ({"error": row["error"]} if row.get("error") else {})


def _responses(answer: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """(what the model said to each request, what counts of it)."""
    if "texts" in answer:
        return [list(answer["texts"])], [
            answer.get("extracted") if answer.get("extracted") is not None else answer["text"]
        ]
    logs = [each if math.isfinite(each) else None for each in answer.get("likelihoods", ())]
    chosen = answer.get("chosen")
    if "choices" in answer:
        return [[[each, place == chosen]] for place, each in enumerate(logs)], [
            [each, place == chosen] for place, each in enumerate(logs)
        ]
    return [[each] for each in logs], logs
