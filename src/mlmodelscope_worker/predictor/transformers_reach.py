"""What a configuration of `transformers` may say: numbers, and names out of the library's own tables.

Parts of it are handed on as they are: to timm, which takes paths of checkpoints, and to readers that take other models
for an answer. What leads to a file, another model or code is refused before the library sees it.
"""

import os
import re

from ..builder.built import read_json
from ..builder.libraries import check_options
from ..parameters import ParameterError
from .predictor import ModelError

_ARGUMENTS = frozenset(["model_args", "backbone_kwargs"])
"""Handed to timm as they are."""
_MODELS = frozenset(["backbone", "architecture"])
_KERNELS = frozenset(
    ["attn_implementation", "_attn_implementation", "_attn_implementation_internal"]
    + ["experts_implementation", "_experts_implementation"]
)
_NAME = re.compile(r"[\w.-]{0,200}\Z")
_LABELS = frozenset(["id2label", "label2id"])
_DEPTH = 20
_ADAPTER = "adapter_config.json"


def refuse_folder(path):
    """ModelError where a folder of a model leads elsewhere."""
    if os.path.lexists(os.path.join(path, _ADAPTER)):
        raise ModelError(
            "the folder has an %s, which names another model to load; merge the adapter into the model's weights"
            % _ADAPTER
        )
    config = os.path.join(path, "config.json")
    if os.path.lexists(config):
        refuse_reaching_out(read_json(config, "config.json"))


def refuse_reaching_out(config, depth=_DEPTH):
    """ModelError where a configuration, or one inside of it, does."""
    if not depth:
        raise ModelError("config.json has configurations inside configurations without end: refused")
    for key in config:
        value = config[key]
        if key in _LABELS:
            continue
        if key in _ARGUMENTS and value is not None:
            _check_arguments(key, value)
        elif (key in _MODELS or key in _KERNELS) and not all(_NAME.match(each) for each in _texts(value)):
            _refuse(key, "is more than the name of one that the library has")
        elif isinstance(value, dict):
            refuse_reaching_out(value, depth - 1)
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, dict):
                    refuse_reaching_out(each, depth - 1)


def _check_arguments(key, value):
    try:
        check_options(value)
    except ParameterError as error:
        _refuse(key, str(error.message))


def _texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            for text in _texts(each):
                yield text


def _refuse(key, why):
    raise ModelError("`%s` of config.json %s: refused" % (key, why))
