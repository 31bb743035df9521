"""What a sample is to the functions of a manifest: the plainest thing that Python has for it.

a picture, a sound     the path of its file; a piece of a sound is {"file": path, "start": s, "seconds": s}
a text                 the text
a row of a table       {column: number, text or None}
values in a file       an array
several of these       a dictionary by their names, such as {"text": …, "text_pair": …}
"""

from ..pipeline.image import Image
from ..pipeline.row import read_row
from ..pipeline.text import read_text


def plain_sample(sample, buffers, load):
    """A sample as functions get it; `load` reads what is not a file of its own."""
    parts = sample.get("parts")
    if not parts:
        return _plain(sample, buffers, load)
    found = {name: _plain(form, buffers, load) for name, form in parts.items()}
    return found if len(found) > 1 else next(iter(found.values()))


def _plain(form, buffers, load):
    if "text" in form:
        return read_text(form)
    if "cells" in form:
        return dict(read_row(form).cells)
    if "file" in form:
        is_piece = "start" in form or "seconds" in form
        return {key: form.get(key) for key in ("file", "start", "seconds")} if is_piece else form["file"]
    loaded = load(form, buffers)
    return loaded.pixels if isinstance(loaded, Image) else loaded
