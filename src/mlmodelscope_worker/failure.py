"""Why a sample failed, in words that are the same in every run."""

import re

from .pipeline.value import SampleError
from .predictor import ModelError

_ADDRESS = re.compile(r"\s*<[^<>]* at 0x[0-9a-fA-F]+>")


def describe_failure(error):
    """One line on why a sample failed. Foreseen reasons speak for themselves, others name their exception.

    An object's address is left out: it is another one in every run, and the same run must leave the same record.
    """
    line = _ADDRESS.sub("", str(error).split("\n")[0])
    return line if isinstance(error, (SampleError, ModelError)) else "%s: %s" % (type(error).__name__, line)
