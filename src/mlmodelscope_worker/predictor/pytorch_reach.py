"""What the code in a PyTorch model may call: operators that compute. What reads or writes files is refused.

TorchScript is read as its own parser does, word by word: blanks, brackets, other names for a module and texts that are
put together change nothing about what is called.
"""

import re

from .predictor import ModelError

_NAMESPACES = frozenset(
    ["aten", "prim", "prims", "quantized", "_quantized", "quantized_decomposed", "prepacked", "mkldnn"]
    + ["mkldnn_prepacked", "onednn", "sparse", "torchvision", "higher_order", "profiler", "_caffe2"]
)
"""Of operators; those of other libraries reach files (`image`, `torchaudio`, `video_reader`), or are not there."""
_FILES = frozenset(["save", "from_file"])
"""Operators of PyTorch's own that read or write files; they have variants with a dot or a number."""
_TOKEN = re.compile(
    r"#[^\n]*|\\?\s+"
    r"|(?P<text>\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|\"(?:\\.|[^\\\"\n])*\"|'(?:\\.|[^\\'\n])*')"
    r"|(?P<name>[^\W\d]\w*)|(?P<other>[^\w\s'\"#\\.,()\[\]:]+|.)",
    re.DOTALL,
)


def refuse_operator(name):
    """ModelError for an operator by its whole name, such as `torch.ops.aten.add.Tensor`."""
    parts = name.split(".")
    if parts[:2] == ["torch", "ops"] and (len(parts) < 4 or parts[2] not in _NAMESPACES or parts[3] in _FILES):
        raise ModelError("the model file calls %s, which reaches files or is not PyTorch's own: refused" % name[:80])


def refuse_code(text):
    """ModelError where TorchScript code calls what reaches out."""
    tokens = list(_joined(_tokens(text)))
    uses_getattr = ("name", "getattr") in tokens
    for place, (kind, word) in enumerate(tokens):
        before = tokens[place - 1][1] if place else ""
        after = [each for _, each in tokens[place + 1 : place + 3]] + ["", ""]
        if kind == "name":
            _vet_name(word, before, after)
        elif kind == "text" and uses_getattr and _meant(word) in _FILES:
            _refuse("torch.%s by its name, which reaches files" % _meant(word))
        elif word in "'\"":
            raise ModelError("the model's code has a text without an end: refused")


def _vet_name(word, before, after):
    if word in _FILES and before == ".":
        _refuse("torch.%s, which reaches files" % word)
    if word not in ("torch", "ops") or before in (".", "def") or after[0] == ":":  # somebody's own attribute or method
        return
    if after[0] != ".":
        _refuse("`%s` by another name" % word)
    if word == "ops" and after[1] not in _NAMESPACES:
        _refuse("operators of `%s`, which are not PyTorch's own" % after[1][:40])


def _meant(text):
    """A text without its escapes."""
    try:
        return text.encode("latin-1", "replace").decode("unicode_escape")
    except UnicodeDecodeError:
        return text


def _tokens(text):
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup
        if kind == "text":
            word = found.group()
            marks = 3 if word[:3] in ('"""', "'''") and len(word) >= 6 else 1
            yield kind, word[marks:-marks]
        elif kind is not None:
            yield kind, found.group()


def _joined(tokens):
    """Texts that stand side by side are one."""
    held = None
    for kind, word in tokens:
        if kind == "text":
            held = word if held is None else held + word
            continue
        if held is not None:
            yield "text", held
            held = None
        yield kind, word
    if held is not None:
        yield "text", held


def _refuse(what):
    raise ModelError("the model's code calls %s: refused" % what)
