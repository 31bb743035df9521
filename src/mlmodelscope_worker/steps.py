"""What each step makes of samples on their way to the model, and of its outputs on their way to the answers.

The host compares the steps of two pipelines, as it compares the layers of two models.
"""

import os

from .failure import describe_failure
from .layers import Folder
from .messages import StepsRead
from .predictor import ModelError


def read_steps(session, asked, buffers):
    """(StepsRead, the answers' buffers)."""
    if not hasattr(session, "see_steps"):
        raise ModelError("the steps of this model cannot be looked at: code of its manifest, or a server, does them")
    folder = Folder(asked.folder, asked.most_bytes)
    before, after, prepared, notes = [], [], [], []
    for slot, sample in enumerate(asked.samples):

        def see(number, name, value, slot=slot):
            for row, array in enumerate(_arrays(value)):
                told = folder.keep("%s of sample %d" % (name, slot) + (" row %d" % row if row else ""), array)
                before.append(dict(told, kind=name, input=number, sample=slot, row=row))

        try:
            prepared.append(session.see_steps(sample, buffers, see))
        except Exception as error:  # of whatever class a library has
            notes.append("sample %d cannot be prepared: %s" % (slot, describe_failure(error)))
    if not asked.outputs or not prepared:
        return StepsRead(before, after, None, notes), ()
    tensors = {each["name"]: _read(asked.folder, each) for each in asked.outputs}
    answered = [len(each) for each in tensors.values() if each.ndim]
    prepared = (
        prepared[: max(answered)] if answered else prepared
    )  # a model of fixed batch size answered the first ones

    def see_output(role, name, value):
        if getattr(value, "dtype", None) is not None and value.dtype.kind in "biuf":
            after.append(dict(folder.keep("%s of %s" % (name, role), value), kind=name, role=role))

    try:
        found = session.read_in_steps(tensors, prepared, see_output)
    except Exception as error:
        notes.append("the outputs do not become answers: %s" % describe_failure(error))
        return StepsRead(before, after, None, notes), ()
    errors = {str(row): reason for row, reason in found.failed.items()}
    return StepsRead(
        before, after, {"batch": 0, "errors": errors, "run_ns": 0, "content": found.content}, notes
    ), found.buffers


def _arrays(value):
    """The numbers of a value, where it has some yet."""
    try:
        return [array for array in value.rows if array.dtype.kind in "biuf"]
    except (AttributeError, ValueError):  # words, or rows of a table
        return []


def _read(folder, told):
    import numpy as np

    path = os.path.join(folder, os.path.basename(told["file"]))
    return np.fromfile(path, told["element_type"]).reshape(told["shape"])
