"""Outputs that are not the probabilities that a reader takes them for."""

from __future__ import annotations

from collections.abc import Iterator

from mlmodelscope.lint.finding import Finding
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.subject import Subject


@rule("M070", "no-softmax", "info", ("model",))
def no_softmax(subject: Subject) -> Iterator[Finding]:
    """Logits are not turned into probabilities.

    The order of the classes is right without a softmax, and so is top-1; but scores are no probabilities, so that
    calibration and confidence cannot be computed.

    Wrong:

        outputs:
          - type: logits

    Right:

        outputs:
          - type: logits
            processing: [softmax]
    """
    for number, output in enumerate(subject.model.outputs):
        if output.type == "logits" and not _normalises(subject, number) and subject.model.postprocess is None:
            yield subject.finding(("outputs", number), "the output holds logits, and no softmax follows")


@rule("M071", "softmax-mismatch", "warning", ("model",))
def softmax_mismatch(subject: Subject) -> Iterator[Finding]:
    """The manifest and the model's file disagree about the softmax.

    Looked up in the model's own file, if it is available. Logits that are called probabilities give scores beyond 1;
    a softmax over probabilities makes all classes look about equally likely.

    Wrong:

        outputs:
          - type: logits        # but the file ends in a softmax
            processing: [softmax]

    Right:

        outputs:
          - type: probability
    """
    ends = subject.model_file.ends_in_softmax if subject.model_file else None
    if ends is None or not subject.model.outputs or subject.model.postprocess is not None:
        return
    output = subject.model.outputs[0]
    if output.type == "probability" and not ends and not _normalises(subject, 0):
        yield subject.finding(
            ("outputs", 0, "type"),
            "the output is called a probability, but the model's file does not end in a softmax",
            "`type: logits` and `processing: [softmax]`",
        )
    elif ends and _normalises(subject, 0):
        yield subject.finding(
            ("outputs", 0, "processing"), "a softmax follows, but the model's file ends in one already"
        )
    elif ends and output.type == "logits":
        yield subject.finding(
            ("outputs", 0, "type"), "the output is called logits, but the model's file ends in a softmax"
        )


def _normalises(subject: Subject, number: int) -> bool:
    return any(step.name in ("softmax", "sigmoid") for step in subject.model.outputs[number].processing)
