"""Output steps by name: functions over a batch of scores, samples x classes."""

from ..parameters import Declaration

OUTPUT_STEPS = {}


def output_step(main=None):
    def register(function):
        OUTPUT_STEPS[function.__name__] = Declaration(function, main=main)
        return function

    return register
