"""Several pipelines over the same samples: what they have in common is computed once, equal tensors are predicted once.

The pipelines form a tree in which each step stands once below the steps that come before it: of thirty variants that
differ in their last step, an image is decoded and resized once. A variant that makes the same tensors as another one
gets its answers, without a call of the model.
"""

import hashlib
import json

from .failure import describe_failure
from .messages import VariantAnswer
from .pipeline import STEPS, library
from .pipeline.image import shared
from .plugins import load_plugins
from .predictor import Lost, ModelError
from .session import Session, with_tokens
from .stacking import alike, rows_of
from .task import reader_of


class Node(object):
    """A step, after all the steps above it."""

    def __init__(self, step=None):
        self.function = STEPS[step["name"]].function if step else None
        self.parameters = dict(step["parameters"]) if step else {}
        self.children = {}
        self.variants = set()
        """The variants whose way leads through here."""
        self.ends = []
        """The variants that end here."""

    def add(self, variant, steps):
        self.variants.add(variant)
        if not steps:
            self.ends.append(variant)
            return
        key = json.dumps([steps[0]["name"], steps[0]["parameters"]], sort_keys=True)
        if key not in self.children:
            self.children[key] = Node(steps[0])
        self.children[key].add(variant, steps[1:])

    def run(self, value, active, found):
        """Fill `found` with {variant: value, or the reason why there is none} for the active ones."""
        if self.function is not None:
            try:
                value = self.function(value, **self.parameters)
            except Exception as error:
                reason = describe_failure(error)
                found.update((variant, Failure(reason)) for variant in self.variants & active)
                return
        for variant in self.ends:
            if variant in active:
                value.rows  # noqa: B018  (a library's own object becomes an array once, for all who end here)
                found[variant] = value.shared()
        branches = [child for child in self.children.values() if not child.variants.isdisjoint(active)]
        for child in branches:
            child.run(value if len(branches) == 1 and not self.ends else shared(value), active, found)


class Failure(object):
    """Why a variant has no tensor of a sample."""

    def __init__(self, reason):
        self.reason = reason


class VariantSession(Session):
    """A model opened with many pipelines. `active` says which of them the next samples go through."""

    def __init__(self, task):
        Session.__init__(self, task)
        self._trees = [Node() for _ in task.inputs]
        """What all variants do to each input."""
        self._readers, self._reads = {}, {}
        self.missing = {}
        """{variant: why this stack cannot do it}."""
        for variant in task.variants:
            pipelines = [each["steps"] for each in variant["inputs"]]
            reason = missing_from_stack(variant)
            if reason:
                self.missing[variant["id"]] = reason
                continue
            for tree, steps in zip(self._trees, pipelines):
                tree.add(variant["id"], steps)
            self._know_reader(variant, task)
        self.active = set(self._trees[0].variants)

    def _know_reader(self, variant, task):
        """Variants that read the outputs in the same way share a reader."""
        key = json.dumps([variant["outputs"], variant["answer"]], sort_keys=True)
        if key not in self._readers:
            outputs = with_tokens(variant["outputs"], task.generation)
            self._readers[key] = reader_of(task.task, outputs, variant["answer"])
        self._reads[variant["id"]] = key

    together = 1  # pipelines that share steps are a tree, through which each sample goes by itself

    def prepare(self, sample, buffers):
        """{variant: what is ready for the model, or why nothing is}."""
        parts = []
        for given, tree in zip(self._inputs, self._trees):
            found = {}
            tree.run(self._load(sample, buffers, given.part), self.active, found)
            parts.append(found)
        return {variant: self._joined([found[variant] for found in parts]) for variant in parts[0]}

    def _joined(self, values):
        return next((each for each in values if isinstance(each, Failure)), None) or self.joined(values)

    def infer(self, batch):
        """A batch's answers: those of each distinct set of tensors, and which variant has which of them."""
        groups = Groups()
        variants = {}
        for variant in sorted(self.active):
            slots, errors = self._gather(batch, variant)
            group = None
            if slots:
                group = self._group(batch, variant, slots, groups)
            if isinstance(group, str):
                errors.update((slot, group) for slot in slots)
                group = None
            elif group is not None:
                errors.update((slots[row], reason) for row, reason in groups.failed[group].items())
            variants[variant] = {"group": group, "errors": {str(slot): errors[slot] for slot in sorted(errors)}}
        return VariantAnswer(batch.index, groups.run_ns, groups.told, groups.calls, variants), tuple(groups.buffers)

    def _gather(self, batch, variant):
        """(slots whose tensors go together, reasons why the others do not)."""
        slots, errors = [], dict(batch.errors)
        for slot, found in enumerate(batch.tensors):
            if slot in errors:
                continue
            if isinstance(found[variant], Failure):
                errors[slot] = found[variant].reason
            elif slots and not alike(found[variant], batch.tensors[slots[0]][variant]):
                errors[slot] = "its tensor has another shape than the batch's first"
            else:
                slots.append(slot)
        return slots, errors

    def _group(self, batch, variant, slots, groups):
        """The number of the answers to these tensors, computed unless another variant has made the same ones."""
        prepared = [batch.tensors[slot][variant] for slot in slots]
        tensors = (tuple(slots), tuple(_fingerprint(tensor) for row in rows_of(prepared) for tensor in row))
        # The same tensors may lie elsewhere in the picture, and what they are read as is another question.
        key = (tensors, self._reads[variant], tuple(each.frame.to_original for each in prepared))
        if key not in groups.numbers:
            try:
                if tensors not in groups.outputs:
                    groups.outputs[tensors] = self._outputs_of(prepared, groups)
                groups.add(key, self._readers[self._reads[variant]](groups.outputs[tensors], prepared))
            except Lost:
                raise
            except Exception as error:
                groups.numbers[key] = describe_failure(error)
        return groups.numbers[key]

    def _outputs_of(self, prepared, groups):
        """The outputs of one call; memory that the next call changes is copied."""
        run_ns, outputs = self.call(prepared)
        groups.run_ns += run_ns
        groups.calls += 1
        return [tensor.copy() for tensor in outputs]


class Groups(object):
    """The distinct answers to a batch: variants with the same tensors share one call, and with the same reader one."""

    def __init__(self):
        self.numbers = {}
        """{tensors and reader: the number of their answers, or why there are none}."""
        self.outputs = {}
        """{tensors: what the model gave for them}."""
        self.failed, self.told, self.buffers, self.run_ns, self.calls = [], [], [], 0, 0

    def add(self, key, read):
        self.numbers[key] = len(self.told)
        self.failed.append(read.failed)
        self.told.append({"content": read.content, "buffers": len(read.buffers)})
        self.buffers.extend(read.buffers)


def _fingerprint(tensor):
    import numpy as np

    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((tensor.shape, tensor.dtype.str)).encode("ascii"))
    digest.update(np.ascontiguousarray(tensor).reshape(-1).view(np.uint8))
    return digest.digest()


def missing_from_stack(variant):
    """Why this stack cannot compute a variant; None where it can."""
    return _missing_plugin(variant) or _missing_library([each["steps"] for each in variant["inputs"]])


def _missing_plugin(variant):
    """Why a step of another package cannot be had: such a step may be one that no other variant needs."""
    try:
        load_plugins(variant.get("plugins", ()))
    except ModelError as error:
        return str(error)
    return None


def _missing_library(pipelines):
    for step in (each for steps in pipelines for each in steps):
        name = step["parameters"].get("library")
        if name:
            try:
                library.load(name)
            except library.MissingLibrary as error:
                return str(error)
    return None
