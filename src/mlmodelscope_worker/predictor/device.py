"""Where a model runs, in the same words for every framework: `cpu`, `cuda` for the first GPU, `cuda:1` for the second.

A device that is not there is refused, and the refusal names what is there.
"""

import re

from ..parameters import Kind, ParameterError, spell
from .predictor import ModelError

_OTHER_WORDS = {"gpu": "cuda"}


class Device(Kind):
    """A device of one of some families; all but `cpu` may have a number, and the first one is called without it."""

    def __init__(self, meaning="Where the model runs; there is no silent fall-back.", families=("cpu", "cuda")):
        Kind.__init__(self, meaning)
        self.families = families

    def check(self, value):
        family, number = split(value)
        if family not in self.families:
            raise ParameterError("%s is not a device" % spell(value), known=self.examples(), seen=value)
        return name(family, number)

    def examples(self):
        """What a person may write, each family once and once with a number."""
        return [each for family in self.families for each in ([family] if family == "cpu" else [family, family + ":1"])]

    def schema(self):
        families = [family if family == "cpu" else family + "(:[0-9]{1,3})?" for family in self.families]
        return {"type": "string", "pattern": "^(%s)$" % "|".join(families)}


def split(device):
    """(family, number) of a device's name, however it is written; (None, 0) of what is none."""
    match = re.match(r"([a-z]+)(?::([0-9]{1,3}))?$", device.strip().lower()) if isinstance(device, str) else None
    if match is None or (match.group(1) == "cpu" and match.group(2)):
        return None, 0
    return _OTHER_WORDS.get(match.group(1), match.group(1)), int(match.group(2) or 0)


def name(family, number):
    return "%s:%d" % (family, number) if number else family


def choose(framework, device, counts, why=""):
    """(family, number) of a device that is there; `counts` says how many of each family there are."""
    family, number = split(device)
    if number >= counts.get(family, 0):
        there = [name(each, place) for each, count in counts.items() for place in range(count)]
        raise ModelError(
            "%s has no device `%s` here; it has %s%s"
            % (framework, device, ", ".join(there) or "none", " (%s)" % why if why else "")
        )
    return family, number
