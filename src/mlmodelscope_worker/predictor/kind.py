"""What kind of model a file is, told by its content: files in a cache have no names to tell it by."""

import contextlib
import os
import shutil
import tempfile

from . import protobuf

SUFFIXES = {"onnx": ".onnx", "tflite": ".tflite", "frozen_graph": ".pb", "openvino": ".xml"}


def kind_of(path):
    """`onnx`, `tflite`, `frozen_graph`, `saved_model` (a folder), `openvino`, or None."""
    if os.path.isdir(path):
        return "saved_model" if os.path.isfile(os.path.join(path, "saved_model.pb")) else None
    data = protobuf.view(path)
    if bytes(data[4:8]) == b"TFL3":
        return "tflite"
    if bytes(data[:256]).replace(b"\xef\xbb\xbf", b"").lstrip().startswith((b"<net", b"<?xml")):
        return "openvino"
    try:
        found = {}
        for number, value in protobuf.fields(data):
            found.setdefault(number, type(value))
    except protobuf.Damaged:
        return None
    # Protocol buffers have no magic number; which fields the outermost message has tells the formats apart.
    if found.get(1) is int and found.get(7) is memoryview:
        return "onnx"
    if found.get(1) is memoryview and set(found) <= {1, 2, 3, 4}:
        return "frozen_graph"
    return None


@contextlib.contextmanager
def named(paths):
    """The same files under other names, for frameworks that go by them: {name: path} becomes a folder of links."""
    folder = tempfile.mkdtemp(prefix="mlmodelscope-named-")
    try:
        for name, path in paths.items():
            os.symlink(os.path.abspath(path), os.path.join(folder, name))
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
