"""Steps behind the model, by name.

An output step is a function over one output, a batch at a time: `step(tensor, *, parameter: Kind(...) = default, …)`.
An answer step is one over all outputs of one sample together: `step(values, frame, *, …)` gets `values`, the arrays by
their roles, and `frame`, where the sample's pixels lie; it gives the values back, changed.
"""

from ..parameters import Declaration
from ..registry import add

OUTPUT_STEPS = {}
ANSWER_STEPS = {}


class AnswerDeclaration(Declaration):
    """An answer step, and what it is for."""

    def __init__(self, function, tasks, main=None, settle=None, rules=(), ready=None, share=False):
        Declaration.__init__(self, function, main=main, settle=settle, rules=rules)
        self.ready = ready
        self.share = share
        self.tasks = tuple(tasks)


class Share(object):
    """How much of a row is the sample's own: `own` of `whole` places along its first axis, the rest on one `side`."""

    def __init__(self, own, whole, side="right"):
        self.own, self.whole, self.side = own, whole, side

    def of(self, output):
        """The part of an output that stands for the sample. A place of which only a part does counts."""
        if self.own >= self.whole:
            return output
        count = -(-len(output) * self.own // self.whole)
        return output[len(output) - count :] if self.side == "left" else output[:count]


def output_step(main=None):
    def register(function):
        declaration = Declaration(function, main=main)
        add(OUTPUT_STEPS, declaration.name, declaration, Declaration.code)
        return function

    return register


def answer_step(tasks, main=None, settle=None, rules=(), ready=None, share=False):
    """Register a step over all outputs of a sample; `tasks` are those whose answers it is for. `ready` is called with
    the parameters when a model is opened: what it reads then, such as a vocabulary, no sample waits for. A step that
    wants its `share` gets as `frame` a `Share`: how much of the row is the sample's own, where rows are filled up."""

    def register(function):
        declaration = AnswerDeclaration(
            function, tasks, main=main, settle=settle, rules=rules, ready=ready, share=share
        )
        add(ANSWER_STEPS, declaration.name, declaration, Declaration.code)
        return function

    return register
