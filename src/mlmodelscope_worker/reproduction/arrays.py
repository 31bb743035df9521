"""Arrays of checks: drawn of a seed, kept in files, and how far two of them are apart."""

import os
import zipfile
import zlib
from collections import OrderedDict

import numpy as np

from .verdict import Failed, Undecided

_MOST_BYTES = 4 << 30
_LONGEST_NAME = 1000
_MOST_DRAWN = 1 << 27
EDGE = 1e3
"""A size at which a naive exponential overflows in float32."""


def source_of(seed, *words):
    """Numbers by chance that depend on the seed and on what they are for, and are the same on both sides."""
    return np.random.RandomState((seed + zlib.crc32("/".join(map(str, words)).encode())) % (1 << 32))


def draw(source, tensor, rows):
    """A batch of a tensor that the manifest describes; without `rows` one of it."""
    shape = tuple(tensor["shape"]) if rows is None else (rows,) + tuple(tensor["shape"])
    if np.prod([float(each) for each in shape]) > _MOST_DRAWN:
        seen = (tensor.get("name", "a tensor"), list(shape), _MOST_DRAWN >> 20)
        raise Undecided("`%s` would have the shape %s: more than %d million numbers are not drawn" % seen)
    kind = tensor.get("values", "normal")
    if kind == "integers":
        return source.randint(0, tensor["below"], shape).astype(tensor.get("element_type") or "int64")
    values = source.standard_normal(shape) if kind == "normal" else source.random_sample(shape)
    return np.asarray(values, tensor.get("element_type") or "float32")


def array_of(value):
    """A value of whatever framework as an array; None where it is no numbers."""
    for name in ("detach", "cpu"):
        if hasattr(value, name) and not isinstance(value, np.ndarray):
            value = getattr(value, name)()
    try:
        found = np.asarray(value)
    except Exception:
        return None
    return found if found.dtype.kind in "biuf" else _as_bfloat(found)


def _as_bfloat(found):
    return found.astype(np.float32) if "bfloat16" in found.dtype.name else None


def spread_out(value, name=""):
    """[(name, array)] of a value that may hold others: a mapping, a list, a tuple."""
    if isinstance(value, dict):
        return [each for key in sorted(value, key=str) for each in spread_out(value[key], "%s.%s" % (name, key))]
    if isinstance(value, (list, tuple)):
        whole = array_of(value)
        if whole is not None and not any(hasattr(each, "shape") for each in value):
            return [(name, whole)]
        return [each for at, item in enumerate(value) for each in spread_out(item, "%s.%d" % (name, at))]
    if isinstance(value, (str, bytes)):
        raw = value.encode("utf-8", "backslashreplace") if isinstance(value, str) else value
        return [(name, np.frombuffer(raw, np.uint8))]
    found = array_of(value)
    return [(name, found)] if found is not None else []


def keep(path, arrays):
    """Write named arrays into one file."""
    names = list(arrays)
    listed = np.frombuffer("\n".join(names).encode("utf-8"), np.uint8)
    with open(path, "wb") as target:
        np.savez(target, names=listed, **{"a%d" % at: arrays[name] for at, name in enumerate(names)})


def kept(path):
    """The arrays of `keep`, or of a file of weights: by name, in order."""
    if not os.path.isfile(path):
        raise Undecided("there is no file %s" % os.path.basename(path))
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(each.file_size for each in archive.infolist())
        if size > _MOST_BYTES:
            raise Undecided("%s holds more than %d GiB" % (os.path.basename(path), _MOST_BYTES >> 30))
        with np.load(path, allow_pickle=False) as found:
            if "names" in found.files and found["names"].dtype == np.uint8:
                names = found["names"].tobytes().decode("utf-8")
                return OrderedDict(
                    (name, found["a%d" % at]) for at, name in enumerate(names.split("\n") if names else [])
                )
            if not found.files:
                raise Undecided("%s holds no arrays" % os.path.basename(path))
            return OrderedDict((name[:_LONGEST_NAME], found[name]) for name in found.files)
    except (zipfile.BadZipFile, ValueError, KeyError, OSError, EOFError) as error:
        raise Undecided("%s is no .npz file of arrays: %s" % (os.path.basename(path), str(error)[:200]))


def off(mine, theirs):
    """How far apart two arrays are, of the larger one's largest value; infinity where one alone is not finite."""
    one, other = np.asarray(mine, np.float64), np.asarray(theirs, np.float64)
    bad, worse = ~np.isfinite(one), ~np.isfinite(other)
    if (bad != worse).any():
        return float("inf")
    one, other = one[~bad], other[~bad]
    if not one.size:
        return 0.0
    apart = float(np.abs(one - other).max())
    scale = max(float(np.abs(one).max()), float(np.abs(other).max()))
    return apart / scale if apart else 0.0


def compare(what, mine, theirs, tolerance):
    """How far apart they are; Failed where that is more than the tolerance."""
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    if mine.shape != theirs.shape:
        raise Failed("%s has the shape %s, the original's %s" % (what, list(mine.shape), list(theirs.shape)))
    found = off(mine, theirs)
    if found > tolerance:
        raise Failed("%s %s" % (what, apart_in_words(mine, theirs, found, tolerance)), {"off": found})
    return found


def apart_in_words(mine, theirs, found, tolerance):
    if found == float("inf"):
        bad = "NaN or infinite where the original's is finite"
        return "is %s" % bad if np.isfinite(np.asarray(theirs, np.float64)).all() else "is finite where it must not be"
    if mine.size == 1:
        return "is %.7g, the original's %.7g (tolerance %.2g)" % (float(mine), float(theirs), tolerance)
    return "differs from the original's by up to %.3g of its largest value (tolerance %.2g)" % (found, tolerance)
