"""A sample as the host describes it becomes bytes (an encoded image) or a value (pixels as they are, texts).

{"parts": {part: form, …}}                                      several parts, such as `text` and `text_pair`
{"text": text}                                                  a text
{"document": {field: value, …}, "ordinal": n}                   a document with its place in the dataset
{"cells": {column: number, text or null, …}}                    a row of a table
{"file": path}                                                  an encoded image or sound
{"file": path, "start": s, "seconds": s}                        a piece of a longer sound
{"buffer": n}                                                   the n-th buffer of the message, encoded
{"slice": path, "offset": o, "shape": [...], "element_type": t, "layout": l, "color": c}    raw values in a file
{"row": path, "index": i, "shape": [...], "color": c}           the i-th row of one large image
"""

import mmap
import os
import threading

from .pipeline.decode import decode
from .pipeline.document import read_document
from .pipeline.header import ImageError
from .pipeline.image import Image
from .pipeline.row import read_row
from .pipeline.sound import EncodedSound
from .pipeline.text import Text, read_text
from .pipeline.value import SampleError

_TEXTS = ("text", "text_pair")
_MAX_FILE_BYTES = 1 << 30


class Loader(object):
    """Reads samples; large shared files are opened once."""

    def __init__(self):
        self._maps = {}
        self._pictures = {}
        self._lock = threading.Lock()

    def __call__(self, sample, buffers, part="image"):
        """One part of a sample; most have no other."""
        parts = sample.get("parts", {})
        sample = parts.get(part, sample)
        if part == "document":
            return read_document(sample)
        if part in _TEXTS:
            pair = parts.get("text_pair") if part == "text" else None
            return Text(read_text(sample), read_text(pair) if pair else None)
        if part == "audio":
            return self._sound(sample, buffers)
        if "cells" in sample:
            return read_row(sample)
        if "file" in sample:
            return self._file(sample["file"])
        if "buffer" in sample:
            return buffers[sample["buffer"]]
        if "slice" in sample:
            return self._slice(sample)
        if "row" in sample:
            return self._row(sample)
        raise ImageError("it has no part `%s`; its parts are %s" % (part, ", ".join(sorted(parts)) or "unknown"))

    def _file(self, path):
        try:
            with open(path, "rb", buffering=0) as file:
                # Asked before reading: `read(limit)` would reserve memory for the limit each time.
                if os.fstat(file.fileno()).st_size > _MAX_FILE_BYTES:
                    raise ImageError("the file is larger than %d bytes" % _MAX_FILE_BYTES)
                return file.read()
        except OSError as error:
            raise ImageError("cannot read it: %s" % (error.strerror or error))

    def _sound(self, sample, buffers):
        start, seconds = sample.get("start"), sample.get("seconds")
        for number in (start, seconds):
            if number is not None and not 0 <= number < 1e9:
                raise SampleError("a piece of a sound from %s s, of %s s" % (start, seconds))
        if "buffer" in sample:
            data = buffers[sample["buffer"]]
        elif "file" in sample:
            data = self._file(sample["file"]) if start is None and seconds is None else self._mapped(sample["file"])
        else:
            raise SampleError("it has no sound")
        return EncodedSound(data, start or 0.0, seconds)

    def _mapped(self, path):
        """A file of which a piece is wanted: the rest is not read."""
        try:
            with open(path, "rb") as file:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # an empty file cannot be mapped
            raise SampleError("cannot read it: %s" % (getattr(error, "strerror", None) or error))

    def _slice(self, sample):
        import numpy as np

        path = sample["slice"]
        try:
            with self._lock:
                if path not in self._maps:
                    self._maps[path] = np.memmap(path, dtype=np.uint8, mode="r")
                mapped = self._maps[path]
        except (OSError, ValueError) as error:  # an empty file cannot be mapped
            raise ImageError("cannot read it: %s" % (getattr(error, "strerror", None) or error))
        dtype = np.dtype(sample["element_type"])
        length = dtype.itemsize
        for side in sample["shape"]:
            length *= side
        part = mapped[sample["offset"] : sample["offset"] + length]
        if part.size != length:
            raise ImageError("the file ends before this sample does")
        array = np.frombuffer(part.tobytes(), dtype).reshape(sample["shape"])
        return Image(array, layout=sample["layout"], color=sample["color"])

    def _row(self, sample):
        path = sample["row"]
        with self._lock:  # decoded once, whoever comes first
            if path not in self._pictures:
                # A strip holds a whole dataset: it is larger than a single picture may be.
                self._pictures[path] = decode(self._file(path), max_pixels=1 << 28).array
            rows = self._pictures[path]
        if sample["index"] >= rows.shape[0]:
            raise ImageError("the image has %d rows, not %d" % (rows.shape[0], sample["index"] + 1))
        row, wanted = rows[sample["index"]], 1
        for side in sample["shape"]:
            wanted *= side
        if row.size != wanted:
            raise ImageError("a row of the image has %d values, not %d" % (row.size, wanted))
        return Image(row.reshape(sample["shape"]), color=sample["color"])


def part_to_see(sample):
    """The part of a sample that people look at first."""
    return next(
        (
            part
            for part in ("image", "audio", "text", "columns", "array", "document")
            if part in sample.get("parts", ())
        ),
        "image",
    )
