"""A folder as exporters of language models write it: graphs, `config.json`, a tokenizer. Nothing in it is executed."""

import json
import os

from .predictor import ModelError

_MOST_BYTES = 1 << 24
_SUFFIX = ".onnx"
_PLACES = ("", "onnx")
_LONGEST = ("max_position_embeddings", "n_positions", "n_ctx", "max_sequence_length", "seq_length")
"""What configurations call the number of tokens that a model takes."""
_TOKENIZER = "tokenizer.json"


def graph_of(path):
    """The ONNX file that a path is, or that a folder holds; ModelError where a folder has none or several."""
    if not os.path.isdir(path):
        return path
    found = [os.path.join(path, place, name) for place in _PLACES for name in _graphs(os.path.join(path, place))]
    named = _named_graph(path)
    chosen = [each for each in found if os.path.basename(each) == named]
    for each in (chosen, [each for each in found if os.path.basename(each) == "model.onnx"], found):
        if len(each) == 1:
            return each[0]
    if not found:
        raise ModelError("the folder holds no %s file" % _SUFFIX)
    names = ", ".join(sorted(os.path.relpath(each, path) for each in found)[:20])
    raise ModelError("the folder holds several graphs, and none is model.onnx: %s. Name one as `graph_path`" % names)


def _graphs(folder):
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(_SUFFIX))
    except OSError:
        return []


def _named_graph(folder):
    """The name of the decoder's file in a configuration of onnxruntime-genai."""
    return _inner(read_config(folder, "genai_config.json"), "model", "decoder").get("filename")


def read_config(folder, name):
    """A configuration as a mapping, an empty one where there is no such file; what is no configuration is refused."""
    path = os.path.join(folder, name)
    try:
        size = os.path.getsize(path)
        if size > _MOST_BYTES:
            raise ModelError("%s has %d bytes; at most %d are read" % (name, size, _MOST_BYTES))
        with open(path, "rb") as file:
            found = json.loads(file.read().decode("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError("%s cannot be read: %s" % (name, str(error).split("\n")[0][:200]))
    if not isinstance(found, dict):
        raise ModelError("%s is not a configuration: a mapping is expected" % name)
    return found


def _inner(config, *names):
    """A mapping inside a mapping; an empty one where something else is there."""
    for name in names:
        config = config.get(name)
        if not isinstance(config, dict):
            return {}
    return config


class Facts(object):
    """What the files beside a graph say of a language model; nothing of a graph that is alone.

    `longest` are the tokens that it takes, `first` the one that begins a text, `ends` those that end one, and
    `tokenizer` is the path of its words.
    """

    def __init__(self, path):
        self.longest = self.first = self.tokenizer = None
        self.ends = ()
        if not os.path.isdir(path):
            return
        config, written = read_config(path, "config.json"), read_config(path, "generation_config.json")
        genai = _inner(read_config(path, "genai_config.json"), "model")
        config = dict(config, **_inner(config, "text_config"))
        self.longest = next((config[name] for name in _LONGEST if _is_count(config.get(name))), None)
        if _is_count(genai.get("context_length")):
            self.longest = genai["context_length"]
        self.first = next(iter(_tokens(written, genai, config, name="bos_token_id")), None)
        self.ends = tuple(_tokens(written, genai, config, name="eos_token_id"))
        place = os.path.join(path, _TOKENIZER)
        self.tokenizer = place if os.path.isfile(place) else None


def _tokens(*configs, **asked):
    """Tokens by the first configuration that has some under a name: a number, or a list of them."""
    for config in configs:
        value = config.get(asked["name"])
        found = [each for each in (value if isinstance(value, list) else [value]) if _is_token(each)]
        if found:
            return found[:64]
    return []


def _is_token(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def _is_count(value):
    return _is_token(value) and value > 0
