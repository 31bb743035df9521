"""Output steps by name: functions over a batch of scores, samples x classes."""

from ..parameters import Declaration
from ..registry import add

OUTPUT_STEPS = {}


def output_step(main=None):
    def register(function):
        declaration = Declaration(function, main=main)
        add(OUTPUT_STEPS, declaration.name, declaration, Declaration.code)
        return function

    return register
