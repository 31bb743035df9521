"""Weights out of a safetensors file into a module: every tensor has its place, and every place its tensor.

The host has made the file, or read it to check it; it is checked again because a worker may get it from elsewhere.
"""

import json

import numpy as np

from ..predictor.predictor import ModelError
from .built import listed

_MOST_HEADER = 1 << 24
_TYPES = {
    "F64": ("float64", 8),
    "F32": ("float32", 4),
    "F16": ("float16", 2),
    "BF16": ("bfloat16", 2),
    "F8_E4M3": ("float8_e4m3fn", 1),
    "F8_E5M2": ("float8_e5m2", 1),
    "I64": ("int64", 8),
    "I32": ("int32", 4),
    "I16": ("int16", 2),
    "I8": ("int8", 1),
    "U8": ("uint8", 1),
    "BOOL": ("bool", 1),
}


def read(torch, path):
    """{name: tensor}; numbers stay in the file until they are used."""
    try:
        data = np.memmap(path, np.uint8, "c")
        length = int.from_bytes(bytes(data[:8]), "little")
        if len(data) < 8 or length > min(_MOST_HEADER, len(data) - 8):
            raise ModelError("the weights are not a safetensors file, or a damaged one")
        header = json.loads(bytes(data[8 : 8 + length]).decode("utf-8"))
        body = data[8 + length :]
        header.pop("__metadata__", None)
        return {name: _tensor(torch, name, entry, body) for name, entry in header.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError("the weights are not a safetensors file, or a damaged one: %s" % str(error)[:200])


def _tensor(torch, name, entry, body):
    begin, end = entry["data_offsets"]
    shape = [int(size) for size in entry["shape"]]
    kind, item = _TYPES.get(entry["dtype"], (None, 1))
    dtype = getattr(torch, kind or "", None)
    if dtype is None:
        raise ModelError("tensor `%s` of the weights is %s, which this PyTorch does not have" % (name, entry["dtype"]))
    count = 1
    for size in shape:
        count *= size
    if len(shape) > 64 or min(shape + [0]) < 0 or not 0 <= begin <= end <= len(body) or end - begin != count * item:
        raise ModelError("tensor `%s` of the weights has another length than its shape says" % name)
    if count == 0:
        return torch.zeros(shape, dtype=dtype)
    part = np.array(body[begin:end]) if (body.ctypes.data + begin) % item else body[begin:end]
    tensor = torch.from_numpy(part).view(dtype).reshape(shape)
    if tensor.dtype.is_floating_point and tensor.element_size() > 1 and bool(torch.isnan(tensor).any()):
        raise ModelError("tensor `%s` of the weights holds NaN" % name)
    return tensor


def fill(torch, module, build, adapt=None):
    """Copy the file's tensors into a module; ModelError names those that are missing, left over or of another shape.

    `adapt` is the library's own way to rename tensors of older files, used where names do not fit.
    """
    tensors = _plain(read(torch, build.weights))
    own = module.state_dict()
    if adapt is not None and not _fits(own, tensors):
        tensors = adapt(tensors)
    hidden = {name: value for name, value in module.named_buffers() if name not in own}
    given = {name: value for name, value in tensors.items() if name in own}
    places = {value.data_ptr() for name, value in own.items() if name in given}
    missing = [
        name
        for name, value in own.items()
        # A number that only training uses, and what shares its memory with a tensor that is given.
        if name not in given and not name.endswith("num_batches_tracked") and value.data_ptr() not in places
    ]
    left = [name for name in tensors if name not in own and name not in hidden]
    wrong = [
        "%s (%s instead of %s)" % (name, list(value.shape), list(own[name].shape))
        for name, value in given.items()
        if value.shape != own[name].shape
    ]
    refuse(build.architecture, missing, left, wrong)
    with torch.no_grad():
        for name, value in given.items():
            own[name].copy_(value)


def refuse(architecture, missing, left, wrong):
    """One error for all tensors that do not fit."""
    faults = []
    if missing:
        faults.append("they lack %s" % listed(missing))
    if left:
        faults.append("%s has no place for %s" % (architecture, listed(left)))
    if wrong:
        faults.append("of another shape: %s" % listed(wrong))
    if faults:
        raise ModelError("the weights do not fit %s: %s" % (architecture, "; ".join(faults)))


def _fits(own, tensors):
    return all(name in own for name in tensors) and all(
        name in tensors or name.endswith("num_batches_tracked") for name in own
    )


def _plain(tensors):
    """Names without the `module.` that DataParallel puts before each."""
    if tensors and all(name.startswith("module.") for name in tensors):
        return {name[len("module.") :]: value for name, value in tensors.items()}
    return tensors
