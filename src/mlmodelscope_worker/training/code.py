"""The functions of a training: by component, found in the manifest's module, called with what they ask for."""

import inspect

from ..functions import FunctionError

REQUIRED = ("model", "training_step", "training_data")
_TAKEN = "hyperparameters"


class Code(object):
    """A component's function by its component; the manifest says what each is called."""

    def __init__(self, functions, names, hyperparameters, required=REQUIRED):
        self._functions = functions
        self._names = names
        self._hyperparameters = hyperparameters
        self._wants = {}
        for component, name in names.items():
            if functions.adopt(component, name):
                self._wants[component] = _takes_settings(functions.stage(component))
        for component in required:
            if component not in self:
                raise FunctionError(
                    "the training has no `%s`: its code must define it (%s)" % (names[component], component)
                )

    def __contains__(self, component):
        return component in self._wants

    def name(self, component):
        return self._names[component]

    def call(self, component, *arguments):
        """What the function returns; with the hyper-parameters, where it has a parameter of that name."""
        if component not in self:
            raise FunctionError("the training has no `%s`" % self._names[component])
        more = {_TAKEN: dict(self._hyperparameters)} if self._wants[component] else {}
        return self._functions.call(component, *arguments, **more)


def _takes_settings(function):
    try:
        return _TAKEN in inspect.signature(function).parameters
    except (TypeError, ValueError):  # written in C: it takes what we give
        return False
