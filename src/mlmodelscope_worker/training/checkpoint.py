"""Checkpoints: all that a training is at one moment, in one file that is whole or not there.

A file has a first line, the digest of the rest, and the rest, which is pickled: it is written and read by the
manifest's own code in its own process, which is trusted already. It is written under another name, brought to the disk
and renamed; the one before it is kept until then, so that a torn file costs one step back and no training.
"""

import hashlib
import os
import pickle  # nosec B403 # our own files, see above
import re

_FIRST = b"mlmodelscope checkpoint 1\n"
_NAME = re.compile(r"checkpoint-(\d{12})\.bin")
_KEPT = 2


class CheckpointError(Exception):
    """The state cannot be kept."""


def write_checkpoint(folder, step, content):
    """Keep it as the newest one; older ones go, but for the last."""
    try:
        body = pickle.dumps(content, protocol=4)
    except Exception as error:
        raise CheckpointError("the training's state cannot be pickled: %s: %s" % (type(error).__name__, error))
    os.makedirs(folder, exist_ok=True)
    digest = hashlib.sha256(body).hexdigest().encode("ascii")
    write_durably(os.path.join(folder, "checkpoint-%012d.bin" % step), _FIRST + digest + b"\n" + body)
    for old, name in _names(folder)[_KEPT:]:
        if old != step:
            os.unlink(os.path.join(folder, name))


def newest_checkpoint(folder):
    """(step, content) of the newest one that is whole; None where there is none."""
    for step, name in _names(folder):
        try:
            with open(os.path.join(folder, name), "rb") as file:
                raw = file.read()
        except OSError:
            continue
        head = len(_FIRST) + 65
        if (
            raw[: len(_FIRST)] != _FIRST
            or hashlib.sha256(raw[head:]).hexdigest().encode() != raw[len(_FIRST) : head - 1]
        ):
            continue  # torn, or somebody else's
        return step, pickle.loads(raw[head:])  # nosec B301
    return None


def write_durably(path, content):
    """The file is as it was, or as it is now, whenever the machine goes down."""
    draft = "%s.%d.draft" % (path, os.getpid())
    try:
        with open(draft, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError:
        if os.path.exists(draft):
            os.unlink(draft)
        raise
    _sync_folder(os.path.dirname(path))


def _sync_folder(folder):
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _names(folder):
    """[(step, name)], newest first; drafts of those that were killed are removed."""
    found = []
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        match = _NAME.fullmatch(name)
        if match:
            found.append((int(match.group(1)), name))
        elif name.endswith(".draft"):
            os.unlink(os.path.join(folder, name))
    return sorted(found, reverse=True)
