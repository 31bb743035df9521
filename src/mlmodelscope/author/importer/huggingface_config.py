"""Hugging Face: `config.json`, what a model of transformers is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mlmodelscope.author.draft import Draft, DraftOutput, DraftStep, Fact, one_line
from mlmodelscope.author.fields import Fields
from mlmodelscope.author.importer.registry import Context, importer
from mlmodelscope.author.request import name_from
from mlmodelscope.model_file.labels import labels_from_text
from mlmodelscope.model_file.limit import MAX_LABELS, clean
from mlmodelscope.task.class_answer import CLASS_TASKS

_TASKS = {
    "ForImageClassification": "classification",
    "ForImageClassificationWithTeacher": "classification",
    "ForObjectDetection": "object_detection",
    "ForSemanticSegmentation": "semantic_segmentation",
    "ForInstanceSegmentation": "instance_segmentation",
    "ForUniversalSegmentation": "semantic_segmentation",
    "ForSegmentation": "semantic_segmentation",
    "ForDepthEstimation": "depth_estimation",
    "ForImageSuperResolution": "image_enhancement",
    "ForSequenceClassification": "text_classification",
    "ForTokenClassification": "token_classification",
    "ForQuestionAnswering": "question_answering",
    "ForCausalLM": "text_generation",
    "LMHeadModel": "text_generation",
    "ForSpeechSeq2Seq": "speech_recognition",
    "ForCTC": "speech_recognition",
    "ForAudioClassification": "audio_classification",
    "ForVideoClassification": "classification",
}
_DETECTOR_OUTPUTS = (("boxes", "pred_boxes"), ("scores", "logits"))
_NAMELESS = re.compile(r"LABEL_\d+")
# Sizes of layers and settings of training: no answer is read out of them that the weights do not give already.
_LEARNT = (
    "label2id",
    "transformers_version",
    "problem_type",
    "return_dict",
    "output_attentions",
    "torchscript",
    "use_cache",
)


def _recognise(data: Mapping[str, Any]) -> bool:
    return ("architectures" in data or "model_type" in data) and not {"pretrained_cfg", "models"} & set(data)


@importer("huggingface_config", _recognise)
def read(data: Mapping[str, Any], context: Context) -> Draft:
    """Hugging Face's config.json"""
    fields = Fields(data, context.file)
    draft = Draft()
    fields.ignore(*_LEARNT)
    architectures = [clean(str(name)) for name in fields.items("architectures") if isinstance(name, str)]
    kind = architectures[0] if architectures else ""
    task = next((task for end, task in _TASKS.items() if kind.endswith(end)), None)
    draft.learn("task", task, one_line(f"architecture {kind}"))
    title = fields.text("_name_or_path")
    draft.learn("name", name_from((title or "").rsplit("/", 1)[-1]), "_name_or_path", guess=True)
    draft.learn("name", name_from(fields.text("model_type") or ""), "model_type", guess=True)
    if title and re.fullmatch(r"[\w.-]+/[\w.-]+", title) and not title.startswith("."):
        draft.references.append(f"https://huggingface.co/{title}")
    _read_labels(draft, fields)
    _read_image(draft, fields)
    if task in CLASS_TASKS:
        # transformers' heads end in a linear layer; an exported file may add to that, and then says so itself
        why = f"{one_line(kind)} answers with logits"
        draft.outputs = [DraftOutput(Fact("logits", why), "logits", steps=(DraftStep("softmax", None),))]
    elif task == "object_detection":
        why = "the names that transformers gives them"
        draft.outputs = [DraftOutput(Fact(kind, why, guess=True), name) for kind, name in _DETECTOR_OUTPUTS]
    dtype = fields.text("torch_dtype") or fields.text("dtype")
    fields.ignore("dtype")
    about = {"architecture": kind, "model_type": fields.text("model_type"), "torch_dtype": dtype}
    draft.attributes.setdefault("huggingface", {}).update({key: value for key, value in about.items() if value})
    more = fields.rest()
    if more:
        draft.notes.append(
            one_line(f"{len(more)} fields of {context.file} describe the network's inside, left out: {', '.join(more)}")
        )
    draft.ask("license", "License of the model's files (it stands on the model's page)")
    return draft


def _read_labels(draft: Draft, fields: Fields) -> None:
    names = fields.any("id2label")
    count = fields.whole("num_labels", MAX_LABELS)
    if names is None:
        if count is not None:
            draft.attributes.setdefault("huggingface", {})["num_labels"] = count
        return
    if isinstance(names, str):
        labels = list(labels_from_text(names))
    elif isinstance(names, Mapping):
        labels = _in_order(fields, names)
    else:
        labels = []
        fields.refuse("id2label", "a mapping of numbers to names")
    if labels and not all(_NAMELESS.fullmatch(name) for name in labels):
        draft.labels = tuple(labels)
    elif labels:
        draft.notes.append(f"{len(labels)} classes have no names but LABEL_0 and so on")


def _in_order(fields: Fields, names: Mapping[str, Any]) -> list[str]:
    if len(names) > MAX_LABELS:
        fields.refuse("id2label", f"at most {MAX_LABELS} names")
    found: dict[int, str] = {}
    for key, name in names.items():
        if not re.fullmatch(r"\d{1,9}", str(key)) or not isinstance(name, (str, int, float)):
            fields.refuse("id2label", "a mapping of numbers to names")
        found[int(key)] = clean(str(name))
    most = max(found, default=-1)
    if most >= MAX_LABELS:
        fields.refuse("id2label", f"numbers below {MAX_LABELS}")
    # COCO's 91 have holes; a hole keeps its place, for the number is the class
    return [found.get(index, "") for index in range(most + 1)]


def _read_image(draft: Draft, fields: Fields) -> None:
    size = fields.any("image_size")
    channels = fields.whole("num_channels")
    if size is None:
        return
    if isinstance(size, (list, tuple)) and size and all(isinstance(side, int) for side in size):
        shape = [int(side) for side in size[-2:]]
    elif isinstance(size, int) and not isinstance(size, bool):
        shape = [int(size), int(size)]
    else:
        draft.keep("huggingface_config", "image_size", size)
        return
    draft.attributes.setdefault("huggingface", {})["image_size"] = shape
    if channels:
        draft.attributes["huggingface"]["num_channels"] = channels
