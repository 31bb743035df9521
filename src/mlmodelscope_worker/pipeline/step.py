"""Steps by name, and a pipeline: steps in the order written.

A step is a function `step(value, *, parameter: Kind(...) = default, ...)`. Registering it is all it takes for the
host to validate, document and plan it. Nothing here or in the step files imports numpy or an image library before
a step runs, so that the host can read declarations in an interpreter that has none of them.
"""

from ..parameters import Declaration, ParameterError
from ..registry import add

STEPS = {}
ANY = "any"
"""What a step takes that does not care, and gives that keeps the kind of what it gets."""


class StepDeclaration(Declaration):
    """A step, what kind of value it takes (`image`, `text`, `tokens`, `sound`, `row`, `tensor` …), and what it gives.

    `columns` are a row whose columns are in the order that the model takes.
    """

    def __init__(
        self, function, main=None, settle=None, rules=(), takes="image", gives=None, ready=None, together=None
    ):
        Declaration.__init__(self, function, main=main, settle=settle, rules=rules)
        self.ready = ready
        self.together = together
        self.takes = (takes,) if isinstance(takes, str) else tuple(takes)
        self.gives = gives or (self.takes[0] if len(self.takes) == 1 else ANY)

    @property
    def gathers(self):
        """Whether it is worth its while to bring values together for it. What takes any kind goes along."""
        return self.together is not None and ANY not in self.takes

    def after(self, kind):
        """The kind of value that it makes of one of this kind; None where it cannot."""
        if kind is None or (ANY not in self.takes and kind not in self.takes):
            return None
        return kind if self.gives == ANY else self.gives


def step(main=None, settle=None, rules=(), takes="image", gives=None, ready=None, together=None):
    """Register a step.

    `main` is the parameter that a bare value stands for; `settle` fills dependent defaults and refuses parameters
    that do not go together; `rules` say the latter as JSON Schema. `takes` is the kind of value that it is for, or some
    kinds; `gives` the kind that it makes of it, by default the same. `ready` is called with the parameters when a model
    is opened: what it reads then, such as a vocabulary, no sample waits for. `together` does to a list of values, in
    one go, what the step does to each of them, with the same result; where it fails, each goes through the step alone.
    """

    def register(function):
        declaration = StepDeclaration(function, main, settle, rules, takes, gives, ready, together)
        add(STEPS, declaration.name, declaration, Declaration.code)
        return function

    return register


class Pipeline(object):
    """Resolved steps, ready to run on one value after another, from any number of threads."""

    def __init__(self, steps):
        self._calls = [(STEPS[step["name"]].function, dict(step["parameters"])) for step in steps]
        self._together = [STEPS[step["name"]].together for step in steps]
        self.goes_together = any(STEPS[step["name"]].gathers for step in steps)
        """Whether many values at once are less work than each alone."""

    def __call__(self, value):
        for function, parameters in self._calls:
            value = function(value, **parameters)
        return value

    def all(self, values):
        """What a call gives for each of some values that go `Together`."""
        for (function, parameters), at_once in zip(self._calls, self._together):
            values = values.step(function, parameters, at_once)
        return values

    def seen(self, value, see):
        """What a call gives; `see` gets a step's name and what it made, before the next one changes that in place."""
        for function, parameters in self._calls:
            value = function(value, **parameters)
            see(function.__name__, value)
        return value

    def in_steps(self, value, mark):
        """What a call gives, its array made; `mark` gets each step's name when it is done."""
        name = None
        for function, parameters in self._calls:
            if name is not None:
                mark(name)
            value, name = function(value, **parameters), function.__name__
        value.rows  # noqa: B018  (making an array of a library's own object is of that step)
        if name is not None:
            mark(name)
        return value


def choose_one(parameters, *names):
    """Refuse unless exactly one of these parameters was given."""
    given = [name for name in names if parameters[name] is not None]
    if len(given) != 1:
        raise ParameterError(
            "exactly one of %s is needed, %s"
            % (", ".join(names), "saw %s" % " and ".join(given) if given else "saw none"),
            parameter=given[-1] if given else None,
        )


def one_of(*names):
    """The rule for what `choose_one` refuses."""
    return {"oneOf": [{"required": [name]} for name in names]}
