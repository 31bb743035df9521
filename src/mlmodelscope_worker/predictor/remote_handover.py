"""Files that a server or a device's agent needs before it can answer, handed over and taken back, for `remote`.

This is the protocol's model repository extension, as Triton defines it: a model is loaded with a `config` and with the
content of each file. A device's agent takes its bitfile or firmware by the same call; docs/remote.md describes it.
"""

import base64
import hashlib
import json
import os
import time

from .predictor import ModelError
from .remote_address import printable
from .remote_tensors import Refusal

MARK = "mlmodelscope_files"
"""The parameter of a model's configuration that tells which files it was loaded from."""
_BACKENDS = {
    ".onnx": "onnxruntime",
    ".pt": "pytorch",
    ".plan": "tensorrt",
    ".engine": "tensorrt",
    ".xml": "openvino",
    ".py": "python",
}
_LOOK_EVERY_S = 0.2
_PIECE = 3 << 16  # of three bytes base64 makes four letters, so pieces of this size join without padding


class Part(object):
    """One file, under the name that it gets in the model's folder on the server."""

    def __init__(self, name, path):
        self.name = name
        self._path = path
        digest, self.size = hashlib.sha256(), 0
        for piece in self.raw():
            digest.update(piece)
            self.size += len(piece)
        self.sha256 = digest.hexdigest()

    @property
    def encoded_size(self):
        return (self.size + 2) // 3 * 4

    def raw(self):
        with open(self._path, "rb") as file:
            for piece in iter(lambda: file.read(_PIECE), b""):
                yield piece

    def encoded(self):
        for piece in self.raw():
            yield base64.b64encode(piece)


def parts_of(files, version):
    """A model's files as they lie in a model repository; those of a folder keep their names."""
    parts = []
    for role in ("graph", "weights"):
        if role in files:
            path = files[role]
            ending = os.path.splitext(path)[1]
            parts += _parts(path, "", "%s/model%s" % (version or "1", ending))
    if "firmware" in files:
        path = files["firmware"]
        parts += _parts(path, "firmware/", "firmware/" + os.path.basename(path))
    names = [part.name for part in parts]
    if len(set(names)) < len(names):
        raise ModelError("two files would have the same name on the server: %s" % ", ".join(sorted(names)))
    return parts


def _parts(path, below, name):
    if not os.path.isdir(path):
        return [Part(name, path)]
    found = []
    for folder, _, names in sorted(os.walk(path)):
        for each in sorted(names):
            place = os.path.join(folder, each)
            found.append(Part(below + os.path.relpath(place, path).replace(os.sep, "/"), place))
    return found


class Handover(object):
    """Sees to it that the server has the model, and leaves the server as it was found."""

    def __init__(self, transport, model, parts, config, load, timeout_s):
        self._transport = transport
        self._model = model
        self._parts = parts
        self._load = load
        self._timeout_s = timeout_s
        config = _config(config, parts)
        self._digest = _digest(parts, config)
        self._config = json.dumps(_marked(config, parts, self._digest), sort_keys=True)
        self._is_ours = False

    def make_ready(self):
        """Return when the server confirms that the model is ready, or raise a ModelError that says why it is not."""
        is_ready = self._transport.is_ready()
        if is_ready and (not self._parts or self._load == "never"):
            return
        if not self._parts and self._load != "never" and self._is_listed():
            pass  # the server has its files and has not loaded them
        elif not self._parts or self._load == "never":
            raise ModelError(self._explain(self._why_not()))
        if is_ready and self._load != "replace":
            if self._transport.parameters().get(MARK) == self._digest:
                return  # these very files are loaded, by somebody else or by an evaluation that was cut short
            raise ModelError(
                "%s has a model `%s` already, and not from these files; choose another name with `model`, or let it "
                "go with `load=replace`" % (self._transport.name, self._model)
            )
        try:
            self._transport.load(self._config, self._parts, self._timeout_s)
        except Refusal as refusal:
            raise ModelError(self._explain("it could not be loaded: %s" % refusal))
        self._is_ours = True
        try:
            self._wait()
            self._confirm()
        except BaseException:
            self.take_back()
            raise

    def take_back(self):
        """Unload what was loaded here, unless it is to stay."""
        if self._is_ours and self._load != "keep":
            self._is_ours = False
            try:
                self._transport.unload()
            except ModelError:
                pass  # a server that is gone has nothing loaded any more

    def describe(self):
        return {part.name: part.sha256 for part in self._parts}

    def _wait(self):
        """A device may still be busy with its firmware when the call that brought it has long been answered."""
        deadline = time.monotonic() + self._timeout_s
        while not self._transport.is_ready():
            if time.monotonic() > deadline:
                raise ModelError(self._explain("it was loaded but is not ready after %g s" % self._timeout_s))
            time.sleep(_LOOK_EVERY_S)

    def _confirm(self):
        """Some servers take no files and load whatever they have under that name; then nothing is known of it."""
        if self._parts and self._transport.parameters().get(MARK) != self._digest:
            raise ModelError(
                "%s loaded `%s` but does not confirm that it took our files; put them there yourself and say "
                "`load=never`" % (self._transport.name, self._model)
            )

    def _why_not(self):
        try:
            self._transport.describe()
        except Refusal as refusal:  # a server that does not know the model says so here
            return str(refusal)
        return "it is not ready"

    def _is_listed(self):
        return any(each.get("name") == self._model for each in self._transport.index() or ())

    def _explain(self, reason):
        """Why there is no such model, with what the server knows instead."""
        reason = reason.replace("%s answered" % self._transport.name, "it answered")
        words = "%s cannot answer for the model `%s`: %s" % (self._transport.name, self._model, reason)
        index = self._transport.index()
        if not index:
            return words
        for each in index:
            if each.get("name") == self._model:
                state = [printable(each[key]) for key in ("state", "reason") if each.get(key)]
                return words + ("; it is %s" % ", ".join(state) if state else "")
        names = sorted({printable(each.get("name")) for each in index})
        more = ", and %d more" % (len(names) - 20) if len(names) > 20 else ""
        return "%s; the server has %s%s" % (words, ", ".join(names[:20]), more)


def _config(text, parts):
    """The configuration that goes with the files: the manifest's own, or what their names tell."""
    try:
        config = json.loads(text) if text else {}
    except ValueError as error:
        raise ModelError("`config` is no JSON: %s" % error)
    if not isinstance(config, dict) or not isinstance(config.get("parameters", {}), dict):
        raise ModelError("`config` is no model configuration: expected an object")
    if not text:
        for part in parts:
            backend = _BACKENDS.get(os.path.splitext(part.name)[1])
            config.update({"backend": backend} if backend else {})
    return config


def _marked(config, parts, digest):
    """The same with words by which the model is known again, and by which an agent can check its firmware."""
    marks = {MARK: digest}
    for part in parts:
        if part.name.startswith("firmware/"):
            marks["sha256:" + part.name] = part.sha256
    parameters = dict(config.get("parameters", {}))
    parameters.update({name: {"string_value": value} for name, value in marks.items()})
    return dict(config, parameters=parameters)


def _digest(parts, config):
    lines = json.dumps(config, sort_keys=True) + "\n"
    lines += "".join("%s  %s\n" % (part.sha256, part.name) for part in sorted(parts, key=lambda part: part.name))
    return hashlib.sha256(lines.encode("utf-8")).hexdigest()
