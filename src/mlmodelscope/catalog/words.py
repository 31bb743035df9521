"""What others call metrics, datasets and tasks, in our words. What is not known keeps its name, and is marked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from mlmodelscope.author.request import name_from
from mlmodelscope.task.measure import find_measure

# The source's words in small letters, with `task:` in front where the same word means something else elsewhere.
_METRICS = {
    "top 1 accuracy": "top1",
    "top-1 accuracy": "top1",
    "top 5 accuracy": "top5",
    "top-5 accuracy": "top5",
    "image classification:accuracy": "top1",
    "box ap": "ap",
    "bbox ap": "ap",
    "box_map": "ap",
    "mask ap": "mask-ap",
    "segm ap": "mask-ap",
    "miou": "miou",
    "mdice": "dice",
    "kp_map": "oks-ap",
    "kp. ap": "oks-ap",
    "pixel_acc": "pixel-accuracy",
    "coco map": "ap",
    "coco 2017 map": "ap",
    "pascal map@0.5": "voc-ap",
    "coco map@0.5": "ap50",
    "ap50": "ap50",
    "pq": "pq",
    "f1": "class-f1",
    "question answering:f1": "answer-f1",
    "token classification:f1": "span-f1",
    "em": "exact-match",
    "exact_match": "exact-match",
    "epe": "epe",
}
# Names of our own for what nothing here measures yet; each says what it is.
_PLAIN_NUMBERS = ("epe", "rmse", "mae", "mse", "perplexity", "fps", "1px", "3px", "per_image_epe", "f1-epe")
_DATASETS = {
    "imagenet-1k": "imagenet-val",
    "imagenet 1k": "imagenet-val",
    "imagenet": "imagenet-val",
    "imagenet-1k (val)": "imagenet-val",
    "imagenet2012": "imagenet-val",
    "imagenet-real": "imagenet-real",
    "imagenet-a": "imagenet-a",
    "imagenet-r": "imagenet-r",
    "imagenet-sketch": "imagenet-sketch",
    "coco": "coco-val2017",
    "coco 2017": "coco-val2017",
    "coco2017": "coco-val2017",
    "ade20k": "ade20k-val",
    "cityscapes": "cityscapes-val",
    "pascal voc 2007": "voc-2007-test",
    "pascal voc 2012 + aug": "voc-2012-val",
    "cifar-10": "cifar10-test",
    "cifar10": "cifar10-test",
    "cifar-100": "cifar100-test",
    "cifar100": "cifar100-test",
}
_TASKS = {
    "image classification": "classification",
    "object detection": "object_detection",
    "semi-supervised object detection": "object_detection",
    "instance segmentation": "instance_segmentation",
    "semantic segmentation": "semantic_segmentation",
    "panoptic segmentation": "general",
    "multi-label classification": "multilabel_classification",
    "depth estimation": "depth_estimation",
    "image retrieval": "embedding",
    "image super resolution": "image_enhancement",
    "text classification": "text_classification",
    "image-classification": "classification",
    "object-detection": "object_detection",
    "image-segmentation": "semantic_segmentation",
    "token-classification": "token_classification",
    "question-answering": "question_answering",
    "text-classification": "text_classification",
    "automatic-speech-recognition": "speech_recognition",
    "audio-classification": "audio_classification",
    "text-generation": "text_generation",
    "translation": "translation",
    "summarization": "summarization",
    "feature-extraction": "embedding",
    "sentence-similarity": "text_similarity",
}


@dataclass(frozen=True)
class Word:
    """A name of ours, and whether we know what it stands for."""

    name: str
    is_known: bool
    unit: str = ""
    """What such numbers are published in, where that is known: percent, dB, number."""


@cache
def metric_word(written: str, task: str = "") -> Word:
    """Our measure for a metric as a source spells it, in the words of its task."""
    plain = " ".join(written.strip().lower().split())
    base, bracket, rest = plain.partition("(")
    name = _METRICS.get(f"{task.lower()}:{plain}") or _METRICS.get(plain)
    if name is None and bracket:  # `mIoU(ms+flip)`: the measure, and a condition
        name = _METRICS.get(f"{task.lower()}:{base.strip()}") or _METRICS.get(base.strip())
    measure = find_measure(name or re.sub(r"\s+", "-", base.strip()))
    if measure is not None:
        return Word(measure.name, True, measure.unit.published or "number")
    own = name or (name_from(plain.replace(" ", "-").replace("@", "-at-")) or "metric")
    return Word(own, False, "number" if plain in _PLAIN_NUMBERS else "")


def metric_condition(written: str) -> str:
    """What stands in brackets behind a metric: `ms+flip`."""
    found = re.search(r"\(([^()]{1,80})\)", written)
    return found[1] if found is not None else ""


@cache
def dataset_word(written: str) -> Word:
    """Our dataset for the name that a source has; the test data of timm's tables are their own."""
    plain = " ".join(written.strip().lower().split())
    name = _DATASETS.get(plain)
    return Word(name, True) if name is not None else Word(written.strip()[:200], False)


def task_word(written: str) -> str:
    """Our task; `general` where there is none for it."""
    return _TASKS.get(" ".join(written.strip().lower().split()), "general")
