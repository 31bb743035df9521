"""What builders have in common: a description of what to build, and a module with what it takes and gives."""

import collections
import json

from ..parameters import ParameterError
from ..predictor.predictor import ModelError
from .libraries import LIBRARIES, check_architecture, check_options

_MOST_BYTES = 1 << 22

Build = collections.namedtuple("Build", "builder architecture options weights config")
"""What to build: `weights` and `config` are paths, of which the second may be None."""

Built = collections.namedtuple("Built", "module inputs outputs")
"""A module that takes tensors in this order and gives tensors, or a mapping with the names of `outputs`; all are
`predictor.Tensor`s."""


def read_build(files):
    """The description that the host wrote, checked again: a plan may come from anywhere."""
    data = read_json(files["build"], "the description of the model")
    try:
        builder, architecture, options = data["builder"], data["architecture"], data["options"]
        if builder not in LIBRARIES:
            raise ModelError("there is no builder `%s`; known: %s" % (builder, ", ".join(sorted(LIBRARIES))))
        check_architecture(builder, architecture)
        check_options(options)
    except (KeyError, TypeError):
        raise ModelError("the description of the model is damaged")
    except ParameterError as error:
        raise ModelError("`%s` %s" % (error.parameter, error.message))
    return Build(builder, architecture, options, files["weights"], files.get("config"))


def read_json(path, what):
    """A JSON object from a file of a size that such files have."""
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise ModelError("%s is larger than %d bytes" % (what, _MOST_BYTES))
        data = json.loads(text.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError("%s is not JSON: %s" % (what, str(error)[:200]))
    if not isinstance(data, dict):
        raise ModelError("%s is not a JSON object" % what)
    return data


def unknown(build, version, known):
    """The error for a name that the registry does not have, with the nearest that it has."""
    import difflib

    near = difflib.get_close_matches(build.architecture, sorted(known), 3, 0.5)
    hint = "; did you mean %s?" % " or ".join(near) if near else ""
    return ModelError("%s %s has no architecture `%s`%s" % (build.builder, version, build.architecture, hint))


def listed(names, most=5):
    """Some names for an error, and how many more there are."""
    names = sorted(names)
    more = ", … (%d in all)" % len(names) if len(names) > most else ""
    return ", ".join(names[:most]) + more
