"""Task files of lm-evaluation-harness, by EleutherAI: a dataset, its prompt, and what is counted, in one YAML.

Whatever would change the prompt or the answers and has no words here is refused, all of it at once; nothing is left
out in silence. Python that a file names with `!function` is never looked for.
"""

from __future__ import annotations

from mlmodelscope.manifest.dialect.lm_eval_data import read_data
from mlmodelscope.manifest.dialect.lm_eval_prompt import read_prompt
from mlmodelscope.manifest.dialect.lm_eval_reading import Reading
from mlmodelscope.manifest.dialect.lm_eval_scores import read_scores
from mlmodelscope.manifest.dialect.notes import Notes
from mlmodelscope.manifest.dialect.words import attributes_of, free_name, name_from_id
from mlmodelscope.manifest.source import SourceInt, SourceList, SourceMap

_MARKS = (
    "dataset_path",
    "dataset_name",
    "doc_to_text",
    "doc_to_target",
    "doc_to_choice",
    "output_type",
    "process_docs",
    "metric_list",
    "test_split",
    "validation_split",
    "fewshot_split",
    "fewshot_config",
    "custom_dataset",
    "num_fewshot",
)
_OURS = ("format", "sources", "inputs", "outputs", "framework", "source", "model", "manifests")
TASKS = {
    "multiple_choice": "multiple_choice",
    "loglikelihood": "language_modeling",
    "loglikelihood_rolling": "language_modeling",
    "generate_until": "text_generation",
}
"""What each kind of request asks of a language model, in our words."""
_ABOUT = (
    "task_alias",
    "tag",
    "metadata",
    "training_split",
    "should_decontaminate",
    "doc_to_decontamination_query",
    "group_alias",
)


def recognise(data: SourceMap) -> bool:
    if any(key in data for key in _OURS):
        return False
    if any(key in data for key in _MARKS):
        return True
    lists = isinstance(data.get("task"), SourceList)
    return lists or ("task" in data and ("include" in data or "class" in data)) or {"group", "task"} <= data.keys()


def convert(data: SourceMap, notes: Notes) -> SourceMap:
    reading = Reading(data, notes)
    _refuse_what_is_no_task(reading)
    made = SourceMap()
    made.place = data.place
    kind = _kind(reading)
    _name(reading, made)
    task = TASKS.get(kind, "multiple_choice")
    made.put("task", task, reading.place("output_type"), None if task == kind else f"is our word for `{kind}`")
    made.put("format", "documents", data.place, "rows with named fields")
    kept = SourceMap()
    kept.place = data.place
    pool = read_data(reading, made, kept)
    prompt = read_prompt(reading, kind, pool)
    ask = read_scores(reading, kind, made, kept)
    reading.raise_refused()
    if prompt:
        made.put("prompt", prompt, data.place)
    if ask:
        made.put("ask", ask, data.place)
    _keep(reading, made, kept)
    return made


def _kind(reading: Reading) -> str:
    kind = reading.text("output_type") or "generate_until"
    if kind not in TASKS:
        reading.refuse("output_type", f"`{kind[:60]}` is none of {', '.join(TASKS)}")
    return kind


def _refuse_what_is_no_task(reading: Reading) -> None:
    data = reading.data
    if "include" in data:
        reading.refuse("include", "files beside this one are not known here")
    if "group" in data or isinstance(data.get("task"), SourceList):
        listed = data.get("task")
        names = [
            str(each.get("task") or each.get("group")) if isinstance(each, SourceMap) else str(each)
            for each in (listed if isinstance(listed, SourceList) else [listed])
        ]
        few = ", ".join(name[:40] for name in names[:8]) + (", …" if len(names) > 8 else "")
        reading.refuse("group" if "group" in data else "task", f"it is a group of tasks ({few}): convert each of them")
        reading.raise_refused()
    reading.refuse_functions()
    if "class" in data:
        reading.refuse("class", "the task is a Python class")
    if not isinstance(data.get("task"), str) or not data["task"]:
        reading.refuse("task", "it has no name: it is a part that task files include")
    for key, why in (
        ("use_prompt", "its prompt is one of the package `promptsource`, which is not available"),
        ("doc_to_image", "it shows pictures, and prompts here are texts"),
        ("doc_to_audio", "it plays sounds, and prompts here are texts"),
        ("process_results", "its own code says what is right"),
        ("custom_dataset", "its own code makes the documents"),
        ("gen_prefix", "the beginning of an answer cannot be given yet"),
    ):
        if data.get(key) is not None:
            reading.refuse(key, why)
        reading.take(key)
    if reading.take("unsafe_code") is True:
        reading.refuse("unsafe_code", "it runs code that models wrote")
    if reading.take("process_docs") is not None:
        reading.refuse("process_docs", "its own code changes the documents")


def _name(reading: Reading, made: SourceMap) -> None:
    place, name = reading.place("task"), str(reading.take("task") or "task")
    spelled = name_from_id(name)
    made.put("name", spelled, place, None if spelled == name else f"is `{name[:80]}` with the letters that a name has")
    metadata = reading.data.get("metadata")
    written = metadata.get("version") if isinstance(metadata, SourceMap) else None
    number = float(written) if isinstance(written, (SourceInt, float, int)) and not isinstance(written, bool) else 1.0
    whole = number if 0 <= number < 1e6 else 1.0
    major, minor = divmod(round(whole * 10), 10)
    made.put("version", f"{major}.{minor}.0", reading.place("metadata"), "is that of its metadata")


def _keep(reading: Reading, made: SourceMap, kept: SourceMap) -> None:
    data = reading.data
    if data.get("should_decontaminate"):
        reading.notes.add(
            "kept", "samples are not compared with what a model was trained on", reading.place("should_decontaminate")
        )
    for key in list(data):
        if key not in _ABOUT:
            reading.notes.add("unclear", f"`{key}` means nothing here and is kept under `attributes`", data.places[key])
        if data[key] is not None:
            data.move(key, kept, free_name(key, kept))
    if kept:
        attributes_of(made).put("lm_eval", kept, data.place)
