"""A record of a language model as a log of Inspect (inspect_ai), version 2 of its JSON form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report.lm_eval import refuse_other_tasks, rows_of, task_of, truth_of
from mlmodelscope.task.quality import quality_of
from mlmodelscope.task.task import task_named

_VERSION = 2
_SCORER = "mlmodelscope"
_ENDINGS = {"stop": "stop", "length": "max_tokens"}


def write_inspect(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    """The whole log: what was run, its numbers, and each sample with answer and score."""
    refuse_other_tasks(record, "inspect")
    samples = [_sample(row, record) for row in rows_of(record, store)]
    scored = sum("error" not in each for each in samples)
    model = f"mlmodelscope/{record.plan.model.name}@{record.plan.model.version}"
    steps = {each.name: dict(each.parameters) for each in (record.plan.input.steps if record.plan.input else ())}
    log = {
        "version": _VERSION,
        "status": "success",
        "eval": {
            "eval_id": record.id,
            "run_id": record.id,
            "created": _moment(record.created_at),
            "task": task_of(record),
            "task_id": record.plan.digest,
            "task_version": record.plan.dataset.version,
            "dataset": {
                "name": record.plan.dataset.name,
                "samples": len(samples),
                "sample_ids": [each["id"] for each in samples],
                "shuffled": False,
            },
            "model": model,
            "config": {"epochs": 1},
            "packages": {"mlmodelscope": record.worker_version},
            "metadata": {
                "record": record.id,
                "plan": record.plan.digest,
                "steps": steps,
                "measure": record.plan.measure,
            },
        },
        "plan": {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": {}},
        "results": {
            "total_samples": len(samples),
            "completed_samples": scored,
            "scores": [_score(record, scored)],
        },
        "stats": {
            "started_at": _moment(record.created_at),
            "completed_at": _moment(record.finished_at or record.created_at),
            "model_usage": {},
        },
        "samples": samples,
    }
    return json.dumps(log, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _moment(when: datetime) -> str:
    return when.isoformat(timespec="seconds")


def _score(record: Record, scored: int) -> dict[str, Any]:
    numbers = {}
    for name, each in record.metrics.items():
        numbers[name] = {"name": name, "value": each.value, "params": {}}
        if each.interval is not None:
            ends = {"low": each.low, "high": each.high, "confidence": each.confidence, "unit": each.unit}
            numbers[name]["metadata"] = ends
    return {"name": _SCORER, "scorer": _SCORER, "scored_samples": scored, "params": {}, "metrics": numbers}


def _sample(row: Mapping[str, Any], record: Record) -> dict[str, Any]:
    answer = task_named(record.plan.task).plain(row) or {}
    text, more = _said(answer)
    target = truth_of(row)
    found: dict[str, Any] = {
        "id": row["id"],
        "epoch": 1,
        "input": f"sha256:{row['digest']}",
        "target": [str(each) for each in target] if isinstance(target, list) else _spelled(target),
        "messages": [],
        "output": {
            "model": record.plan.model.name,
            "choices": [
                {
                    "message": {"role": "assistant", "content": text, "source": "generate"},
                    "stop_reason": _ENDINGS.get(str(answer.get("ending")), "unknown"),
                }
            ],
        },
        "metadata": more,
    }
    if answer.get("choices"):
        found["choices"] = list(answer["choices"])
    if row.get("error"):
        found["error"] = {"message": row["error"], "traceback": "", "traceback_ansi": ""}
        return found
    quality = quality_of(row.get("score"))
    if quality is not None:
        found["scores"] = {_SCORER: {"value": quality, "answer": str(answer.get("extracted", text))}}
    return found


def _said(answer: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """(the answer as a text, what else there is)."""
    if "text" in answer:
        return answer["text"], {"answers": answer["texts"]} if len(answer.get("texts") or ()) > 1 else {}
    chosen, choices = answer.get("chosen"), answer.get("choices") or []
    text = choices[chosen] if isinstance(chosen, int) and chosen < len(choices) else ""
    return text, {key: answer[key] for key in ("likelihoods", "tokens") if key in answer}


def _spelled(target: Any) -> str:
    return target if isinstance(target, str) else json.dumps(target, ensure_ascii=False)
