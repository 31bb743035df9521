"""Plans of older releases: read for ever, and identified as they were.

Version 1 knew one input and one output, the scores of a classifier. Whatever can be said in its words has the digest
that it had then, so that records made before are found again.
"""

from __future__ import annotations

from typing import Any

_ANSWER = {"probabilities": False, "top_k": 5, "label_offset": 0, "names": None}
"""What version 1 always said of its output, and what it is where the current format leaves it out."""
_MORE = ("label_order", "tie_breaking")


def upgraded(data: dict[str, Any]) -> dict[str, Any]:
    """A plan's data in the current format, whatever release wrote it."""
    if "output" not in data:
        return data
    rest = {key: value for key, value in data.items() if key not in ("input", "output", "schema_version")}
    output = data["output"]
    role = "probability" if output["probabilities"] and not output["steps"] else "logits"
    layer = {"role": role, "layer_name": output["layer_name"], "steps": output["steps"]}
    answer = {key: output[key] for key in (*_ANSWER, *_MORE) if key in output}
    inputs = [data["input"]] if data.get("input") is not None else []
    return {**rest, "inputs": inputs, "outputs": [layer], "answer": answer}


def as_version_1(data: dict[str, Any]) -> dict[str, Any]:
    """The identity of a plan in the words of version 1, where those suffice; else as it is."""
    inputs, outputs, answer = data.get("inputs", []), data.get("outputs", []), data.get("answer", {})
    parts = {key: data[key] for key in data if key not in ("inputs", "outputs", "answer")}
    is_simple = len(inputs) < 2 and len(outputs) == 1 and not answer.get("steps") and "measure" not in data
    is_scores = is_simple and (outputs[0]["role"] in ("probability", "logits") or "functions" in data)
    if not is_scores or any("part" in each for each in inputs):
        return data
    output = {"layer_name": outputs[0]["layer_name"], "steps": outputs[0]["steps"]}
    output |= {key: answer.get(key, missing) for key, missing in _ANSWER.items()}
    output |= {key: answer[key] for key in _MORE if key in answer}
    return {**parts, **({"input": inputs[0]} if inputs else {}), "output": output}
