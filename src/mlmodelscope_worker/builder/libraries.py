"""Which libraries build models, what their architectures are called, and which of their options are plain data.

The host checks manifests by this, the worker checks again before it builds: an option may name neither a file nor an
address nor a function.
"""

import re

from ..parameters import ParameterError

_MOST_ITEMS = 256
_MOST_DEPTH = 4
_OPTION = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
_WORD = re.compile(r"[\w .,+-]{0,200}\Z")
# What reaches files, addresses, caches or code in one library or another; weights come from the manifest alone.
_REFUSED = re.compile(
    r"pretrained|checkpoint|cache|weights|_path\Z|\Apath\Z|_dir\Z|_file\Z|\Afile|filename|url|state_dict|custom_load"
    r"|hf_hub|hub|repo|revision|trust|token\Z|proxies|auto_map|_fn\Z|quantization_config|name_or_path|attn_impl|experts_impl"
    r"|_from_|\Aload|\Adevice\Z|backbone_config|timm_backbone\Z|backbone\Z|classifier_activation\Z|input_tensor\Z"
)


class Library(object):
    """A library that builds models: what brings it, for which predictor, and what a name of its registry looks like."""

    def __init__(self, packages, framework, pattern, example, takes_config=False):
        self.packages = tuple(packages)
        self.framework = framework
        self.pattern = re.compile(pattern)
        self.example = example
        self.takes_config = takes_config


LIBRARIES = {
    "timm": Library(("timm", "torchvision"), "pytorch", r"[a-z0-9_]{1,100}(\.[a-z0-9_]{1,100})?\Z", "resnet50.a1_in1k"),
    "torchvision": Library(("torchvision",), "pytorch", r"[a-z][a-z0-9_]{0,99}\Z", "resnet50"),
    "transformers": Library(("transformers",), "pytorch", r"[A-Z][A-Za-z0-9]{0,99}\Z", "BertModel", takes_config=True),
}
"""The libraries, by the name that a manifest has for them."""


def check_architecture(builder, architecture):
    """Refuse what cannot be a name in the library's registry: addresses, paths, modules, other sources of models."""
    library = LIBRARIES[builder]
    if not isinstance(architecture, str) or not library.pattern.match(architecture):
        raise ParameterError(
            "is not the name of an architecture in the registry of %s, such as %s" % (builder, library.example),
            "architecture",
        )


def check_options(options):
    """Refuse options that are not plain data, or that reach files, addresses, weights or code."""
    if not isinstance(options, dict):
        raise ParameterError("are a mapping of names to plain values", "options")
    for name in options:
        if not isinstance(name, str) or not _OPTION.match(name):
            raise ParameterError("has a name that is not an option's: %s" % _shown(name), "options")
        if _REFUSED.search(name):
            raise ParameterError(
                "has `%s`, which is refused: options are numbers, switches and words that shape the architecture; "
                "weights come from `weights_path` alone" % name,
                "options",
            )
        _check_value(name, options[name], 1)


def _check_value(name, value, depth):
    if value is None or isinstance(value, (bool, int)):
        if isinstance(value, int) and abs(value) > 1 << 53:
            raise ParameterError("has a number in `%s` that is too large" % name, "options")
    elif isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ParameterError("has a number in `%s` that is not finite" % name, "options")
    elif isinstance(value, str):
        if not _WORD.match(value):
            raise ParameterError("has a text in `%s` that is not a plain word: %s" % (name, _shown(value)), "options")
    elif isinstance(value, (list, tuple)) and depth < _MOST_DEPTH and len(value) <= _MOST_ITEMS:
        for each in value:
            _check_value(name, each, depth + 1)
    else:
        raise ParameterError(
            "has something in `%s` that is not a number, a switch, a word or a list of them" % name, "options"
        )


def _shown(value):
    return "".join(letter if letter.isprintable() else "?" for letter in str(value)[:80])
