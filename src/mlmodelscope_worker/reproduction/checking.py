"""A check by its name, and its verdict as the host is told of it."""

import inspect

from .. import messages
from ..failure import describe_failure
from ..layers import Folder
from ..predictor import ModelError
from . import data_checks, function_checks, model_checks, training_checks
from .arrays import keep, kept
from .side import Side
from .verdict import Failed, Skipped, Undecided

_CHECKS = {
    "pass-through": model_checks.pass_through,
    "shapes": model_checks.shapes,
    "determinism": model_checks.determinism,
    "serialization": model_checks.serialization,
    "parameters": model_checks.parameters,
    "data": data_checks.data,
    "loss": function_checks.loss,
    "metric": function_checks.metric,
    "gradients": training_checks.gradients,
    "step": training_checks.step,
    "samples": data_checks.samples,
}
_RECORDS = {
    "parameters": model_checks.record_parameters,
    "data": data_checks.record_data,
    "loss": function_checks.record_loss,
    "metric": function_checks.record_metric,
    "step": training_checks.record_step,
    "samples": data_checks.record_samples,
    "weights": lambda side, weights: side.adapter.weights(side.build()),
}


def open_side(asked):
    return Side(asked)


def run_check(side, asked):
    """Checked: mine, against what the original's stack has written, where it has."""
    known = inspect.signature(_CHECKS[asked.check]).parameters
    more = {"weights": asked.weights} if "weights" in known else {}
    try:
        against = kept(asked.against) if asked.against is not None else None
        words, numbers = _CHECKS[asked.check](side, against, asked.tolerance, **more)
        return messages.Checked("passed", words, numbers)
    except Failed as error:
        return messages.Checked("failed", error.words, _plain(error.numbers))
    except Skipped as error:
        return messages.Checked("skipped", str(error), {})
    except Undecided as error:
        return messages.Checked("undecided", str(error), {})
    except KeyError as error:
        return messages.Checked("undecided", "the original's side has no %s" % error, {})
    except (Exception, SystemExit) as error:  # of whatever class a framework has
        return messages.Checked("failed", describe_failure(error), {})


def record_original(side, asked):
    """Recorded: what the original makes, in a file; or why it cannot be had."""
    try:
        keep(asked.into, _RECORDS[asked.what](side, asked.weights))
        return messages.Recorded(None)
    except Skipped as error:
        return messages.Recorded("skipped", str(error))
    except (Failed, Undecided) as error:
        return messages.Recorded("undecided", getattr(error, "words", str(error)))
    except (Exception, SystemExit) as error:
        return messages.Recorded("undecided", describe_failure(error))


def read_side(side, asked):
    """LayersRead: what went in, what each layer passed on, and what came out, with fixed weights."""
    import numpy as np

    from ..layers import given_arrays

    try:
        folder = Folder(asked.folder, asked.most_bytes)
        inputs = given_arrays(asked.folder, asked.tensors) if asked.tensors else side.inputs("fixed")
        model = side.fixed_model(asked.weights)
        outputs = side.adapter.forward(model, inputs)
        layers = side.adapter.layers(model, inputs)
        names = [each["name"] for each in side.given["inputs"]]
        return messages.LayersRead(
            [folder.keep(name, value) for name, value in zip(names, inputs)],
            [dict(folder.keep(name, np.asarray(value)), kind=kind) for name, kind, value in layers],
            [folder.keep("output %d" % at, value) for at, value in enumerate(outputs)],
            [],
        )
    except Failed as error:
        raise ModelError("failed: %s" % error.words)
    except (Skipped, Undecided) as error:
        raise ModelError("%s: %s" % ("skipped" if isinstance(error, Skipped) else "undecided", error))


def _plain(numbers):
    """JSON knows no infinity."""
    return {name: value if abs(value) < float("inf") else None for name, value in numbers.items()}
