"""Outputs of a model whose file is not here: what its task answers with, marked as a guess."""

from __future__ import annotations

from mlmodelscope.author.draft import Draft, DraftOutput, DraftStep, Fact

_CLASSES = ("classification", "text_classification", "audio_classification", "multilabel_classification")
_OUTPUTS = {
    "object_detection": ("boxes", "classes", "scores"),
    "semantic_segmentation": ("masks",),
    "instance_segmentation": ("boxes", "classes", "scores", "masks"),
    "keypoint_detection": ("keypoints",),
    "image_enhancement": ("image",),
    "image_generation": ("image",),
    "embedding": ("embedding",),
    "text_generation": ("text",),
}


def with_outputs(draft: Draft) -> None:
    """Fill in what nothing says; what is known stays."""
    if draft.outputs:
        return
    task = str(draft.get("task"))
    why = "what this task answers with"
    if task in _CLASSES:
        softmax = (DraftStep("softmax", None),)
        draft.outputs = [DraftOutput(Fact("logits", why, guess=True), steps=softmax)]
    else:
        kinds = _OUTPUTS.get(task, ("tensor",))
        draft.outputs = [DraftOutput(Fact(kind, why, guess=True)) for kind in kinds]
