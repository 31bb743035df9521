"""Datasets that could lose samples unnoticed."""

from __future__ import annotations

from collections.abc import Iterator

from mlmodelscope.lint.finding import Finding
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.subject import Subject


@rule("M130", "no-size", "info", ("dataset",))
def no_size(subject: Subject) -> Iterator[Finding]:
    """The dataset does not say how many samples it has.

    An archive that was cut off, or a pattern that misses some files, gives a smaller dataset and another accuracy. With
    `size` that is noticed before anything is measured.

    Wrong:

        format: folder
        sources: [{url: pictures/}]

    Right:

        format: folder
        sources: [{url: pictures/}]
        size: 10000
    """
    splits = subject.dataset.splits
    for name, split in splits.items():
        if split.size is None:
            said = f"it does not say how many samples the split `{name}` should have"
            yield subject.finding(("splits", name), said, "`size: 10000`")
    if subject.dataset.size is None and not splits:
        yield subject.finding(("sources",), "it does not say how many samples there should be", "`size: 10000`")
