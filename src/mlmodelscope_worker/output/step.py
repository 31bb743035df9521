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

    def __init__(self, function, tasks, main=None, settle=None, rules=(), ready=None):
        Declaration.__init__(self, function, main=main, settle=settle, rules=rules)
        self.ready = ready
        self.tasks = tuple(tasks)


def output_step(main=None):
    def register(function):
        declaration = Declaration(function, main=main)
        add(OUTPUT_STEPS, declaration.name, declaration, Declaration.code)
        return function

    return register


def answer_step(tasks, main=None, settle=None, rules=(), ready=None):
    """Register a step over all outputs of a sample; `tasks` are those whose answers it is for. `ready` is called with
    the parameters when a model is opened: what it reads then, such as a vocabulary, no sample waits for."""

    def register(function):
        declaration = AnswerDeclaration(function, tasks, main=main, settle=settle, rules=rules, ready=ready)
        add(ANSWER_STEPS, declaration.name, declaration, Declaration.code)
        return function

    return register
