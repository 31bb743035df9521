"""One implementation with what the manifest gives to its checks: mine, or the original in a stack of its own."""

import os

import numpy as np

from .arrays import draw, kept, source_of
from .code import Code
from .frameworks import adapter_for
from .verdict import Failed, Skipped


class Side(object):
    def __init__(self, asked):
        self.given = asked.given
        self.seed = asked.given["seed"]
        self.rows = asked.given["batch_size"]
        self.folder = asked.folder
        self._files = asked.files
        self._framework = asked.framework
        self._code = self._adapter = None

    @property
    def code(self):
        """Imported when the first check wants it: what is wrong with the file is that check's finding."""
        if self._code is None:
            if not self._files:
                raise Skipped("no code is named")
            self._code = Code(self._files, self.folder)
        return self._code

    @property
    def adapter(self):
        if self._adapter is None:
            self._adapter = adapter_for(self._framework, self.code)
        return self._adapter

    def inputs(self, *words):
        return [
            draw(source_of(self.seed, "inputs", each["name"], *words), each, self.rows) for each in self.given["inputs"]
        ]

    def targets(self, *words):
        if self.given["targets"] is None:
            raise Skipped("the manifest does not describe `targets`")
        return draw(source_of(self.seed, "targets", *words), self.given["targets"], self.rows)

    def outputs(self, *words):
        """Tensors that look like the model's answer."""
        if not self.given["outputs"]:
            raise Skipped("the manifest does not describe `outputs`")
        return [
            draw(source_of(self.seed, "outputs", at, *words), dict(each, values="normal"), self.rows)
            for at, each in enumerate(self.given["outputs"])
        ]

    def build(self, seed=None):
        return self.adapter.build(self.seed if seed is None else seed)

    def fixed_model(self, weights):
        """The model with given weights; the original without any has those that its seed gives it."""
        return self.adapter.with_weights(self.build(), kept(weights)) if weights is not None else self.build()

    def samples(self):
        """[(name, what the pipeline gets)]."""
        if self.given["samples"]:
            return [(os.path.basename(each), each) for each in self.given["samples"]]
        if self.given["drawn_samples"] is None:
            raise Skipped("the manifest names no `samples` and no `drawn_samples`")
        return [
            ("drawn %d" % at, draw(source_of(self.seed, "sample", at), self.given["drawn_samples"], None))
            for at in range(self.rows)
        ]


def finite(what, arrays):
    """Failed where a number is NaN or infinite."""
    for at, each in enumerate(arrays):
        if each.dtype.kind == "f" and not np.isfinite(each).all():
            where = " %d" % at if len(arrays) > 1 else ""
            raise Failed("%s%s has %d numbers that are NaN or infinite" % (what, where, (~np.isfinite(each)).sum()))
