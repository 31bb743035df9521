"""What a TensorFlow graph may do: compute. What reads or writes files, or calls Python, is refused.

TensorFlow's own savers are in many graphs. They are let through where the name of the file comes from whoever opens the
model, and not from the model itself; a function that saves may hand such a name on.
"""

import re

from .predictor import ModelError

_REACHES_OUT = re.compile(
    "File|Reader(V2)?$|Dataset|Iterator|SummaryWriter|^Write.*Summary|^Debug|PyFunc|^PrintV2$|LMDB|Sql"
    "|GenerateVocabRemapping|LoadAndRemapMatrix|RecordInput|^Import|Rpc|RemoteCall"
)
_COMPUTES = frozenset(["ShardedFilename", "ShardedFilespec"])
_TABLES = frozenset(["InitializeTableFromTextFile", "InitializeTableFromTextFileV2"])
_SAVERS = {
    "Save": (0,),
    "SaveSlices": (0,),
    "SaveV2": (0,),
    "Restore": (0,),
    "RestoreSlice": (0,),
    "RestoreV2": (0,),
    "MergeV2Checkpoints": (0, 1),
}
"""Which of their inputs are names of files."""
_CALLS = frozenset(["PartitionedCall", "StatefulPartitionedCall"])
_PASSED_ON = frozenset(["Identity", "StringJoin", "ShardedFilename", "Pack", "Select", "SelectV2"])
_PART = re.compile(r"(?!/)(?!.*(\.\.|://|~|\\)).*$", re.DOTALL)
"""A piece of a name that savers add to the one they were given."""
_DEPTH = 50


def refuse_reaching_out(graph, assets=()):
    """ModelError where it does, wherever in the graph; `assets` are the tensors that stand for files of the model."""
    functions = {each.signature.name: _Body(each.node_def, each.signature.input_arg) for each in graph.library.function}
    main = _Body(graph.node, ())
    handed_on = _file_arguments(functions)
    for body in [main] + list(functions.values()):
        for node in body.nodes.values():
            _vet(node, body, assets, handed_on)
    for body in [main] + list(functions.values()):
        for node in body.nodes.values():
            called = _called(node, handed_on)
            if called is None:
                _refuse_functions(node, handed_on)
                continue
            for place in handed_on[called]:
                if place >= len(_inputs(node)) or not body.is_given(_inputs(node)[place]):
                    _refuse(node, "a call of `%s`, which opens files" % called)


class _Body(object):
    """The nodes of a graph or of a function."""

    def __init__(self, nodes, arguments):
        self.nodes = {node.name: node for node in nodes}
        self.arguments = [each.name for each in arguments]

    def is_given(self, name, depth=_DEPTH):
        """Whether a text comes from outside of the model, but for harmless pieces."""
        return all(found is not None for found in self.sources(name, depth))

    def sources(self, name, depth=_DEPTH):
        """Where a text comes from: places of arguments, -1 for the one who opens the model, None for anything else."""
        name = name.lstrip("^").split(":")[0]
        if name in self.arguments:
            yield self.arguments.index(name)
            return
        node = self.nodes.get(name)
        if node is None or not depth:
            yield None
        elif node.op == "Placeholder":
            yield -1
        elif node.op == "Const":
            texts = [each.decode("utf-8", "replace") for each in node.attr["value"].tensor.string_val]
            yield -1 if texts and all(_PART.match(each) for each in texts) else None
        elif node.op == "PlaceholderWithDefault" or node.op in _PASSED_ON:
            given = _inputs(node)
            if node.op == "ShardedFilename":
                given = given[:1]
            elif node.op.startswith("Select"):
                given = given[1:]
            for each in given or [""]:
                for found in self.sources(each, depth - 1):
                    yield found
        else:
            yield None


def _vet(node, body, assets, handed_on):
    if node.op in _TABLES:
        if not any(name.split(":")[0] in assets for name in _inputs(node)[1:]):
            _refuse(node, "a %s of a file that is not the model's" % node.op)
    elif node.op in _SAVERS:
        for place in _SAVERS[node.op]:
            if place >= len(_inputs(node)) or not body.is_given(_inputs(node)[place]):
                _refuse(node, "a %s" % node.op)
    elif node.op not in _COMPUTES and _REACHES_OUT.search(node.op):
        _refuse(node, "a %s" % node.op)


def _file_arguments(functions):
    """{function that opens files: places of its arguments that name them}, through all calls."""
    found = {}
    for _ in range(_DEPTH):
        before = dict(found)
        for name, body in functions.items():
            places, opens = set(), False
            for node in body.nodes.values():
                called = _called(node, found)
                for place in _SAVERS.get(node.op, ()) if called is None else found[called]:
                    opens = True
                    if place < len(_inputs(node)):
                        places.update(each for each in body.sources(_inputs(node)[place]) if each not in (None, -1))
            if opens:
                found[name] = tuple(sorted(places))
        if found == before:
            return found
    raise ModelError("the model's functions call one another without end: refused")


def _called(node, functions):
    """The one of these functions that a node calls; None where it is no plain call."""
    name = node.attr["f"].func.name if node.op in _CALLS and "f" in node.attr else node.op
    return name if name in functions else None


def _refuse_functions(node, functions):
    """What opens files is called plainly or not at all: not by a loop, and not by a branch."""
    for value in node.attr.values():
        for each in [value.func.name] + [one.name for one in value.list.func]:
            if each in functions:
                _refuse(node, "a %s that calls `%s`, which opens files" % (node.op, each))


def _inputs(node):
    return [name for name in node.input if not name.startswith("^")]


def _refuse(node, what):
    raise ModelError("the model's node `%s` is %s, which reaches out of the model: refused" % (node.name, what))
