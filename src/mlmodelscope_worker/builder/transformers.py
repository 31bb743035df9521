"""transformers: the classes of its own registry, such as `BertModel`, shaped by a config.json; without the network."""

import inspect
import json
import os
import shutil
import tempfile

from ..predictor.predictor import ModelError, Tensor
from ..predictor.transformers_reach import refuse_reaching_out
from . import torchvision_operators, weights
from .built import Built, read_json, unknown

# What of a configuration names code, other files, or how to compute: the plan says the last, and nobody the others.
_LEFT_OUT = ("auto_map", "quantization_config", "_name_or_path", "attn_implementation", "_attn_implementation")
_LEFT_OUT += ("_attn_implementation_internal", "torch_dtype", "dtype", "_experts_implementation", "architectures")
_IMAGE, _SOUND, _FEATURES = "pixel_values", "input_values", "input_features"
_OUTPUTS = (
    ("ForQuestionAnswering", ("start_logits", "end_logits")),
    ("ForMaskedImageModeling", ("reconstruction",)),
    ("ForDepthEstimation", ("predicted_depth",)),
    ("ForImageSuperResolution", ("reconstruction",)),
    ("ForObjectDetection", ("logits", "pred_boxes")),
    ("Model", ("last_hidden_state",)),
)


def build(torch, build):
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        os.environ[name] = "1"
    torchvision_operators.provide(torch)  # transformers imports it where it is installed
    import transformers

    transformers.logging.set_verbosity_error()
    getattr(transformers.logging, "disable_progress_bar", lambda: None)()
    config = _config(transformers, build)
    kind = _class(transformers, build, config)
    folder = tempfile.mkdtemp(prefix="mlmodelscope-built-")
    try:
        with open(os.path.join(folder, "config.json"), "w") as file:
            json.dump(config, file)
        os.symlink(os.path.abspath(build.weights), os.path.join(folder, "model.safetensors"))
        weights.read(torch, build.weights)  # its own reader says less of what is wrong
        module, told = kind.from_pretrained(
            folder, use_safetensors=True, local_files_only=True, output_loading_info=True, ignore_mismatched_sizes=True
        )
    except ModelError:
        raise
    except Exception as error:  # its readers are many
        words = (transformers.__version__, build.architecture, str(error).strip().split("\n")[0][:300])
        raise ModelError("transformers %s cannot build %s: %s" % words)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    wrong = ["%s (%s instead of %s)" % (each[0], list(each[1]), list(each[2])) for each in told["mismatched_keys"]]
    weights.refuse(build.architecture, told["missing_keys"], told["unexpected_keys"], wrong)
    inputs, outputs = _inputs(module), [Tensor(name, None, None) for name in _output_names(build.architecture)]
    return Built(_called(torch, module.float().eval(), [each.name for each in inputs]), inputs, outputs)


def _config(transformers, build):
    data = read_json(build.config, "config.json") if build.config is not None else {}
    data.update(build.options)
    refuse_reaching_out(data)
    data = _without(data)
    known = transformers.models.auto.configuration_auto.CONFIG_MAPPING_NAMES
    model_type = data.get("model_type")
    if not isinstance(model_type, str) or model_type not in known:
        raise ModelError(
            "config.json, or the options, must name a `model_type` of transformers %s, such as bert; it has %s"
            % (transformers.__version__, str(model_type)[:80])
        )
    if data.get("use_pretrained_backbone"):
        data["use_pretrained_backbone"] = False  # it would be downloaded
    return data


def _without(data):
    """Without what is left out, in the configurations inside of it, too."""
    return {
        name: _without(value) if isinstance(value, dict) and name not in ("id2label", "label2id") else value
        for name, value in data.items()
        if name not in _LEFT_OUT
    }


def _class(transformers, build, config):
    """The class of a name that the library's own tables list for this kind of configuration, and no other."""
    tables = vars(transformers.models.auto.modeling_auto)
    named, listed = set(), set()
    for name, table in tables.items():
        if name.endswith("_MAPPING_NAMES"):
            for model_type, classes in table.items():
                classes = [classes] if isinstance(classes, str) else list(classes)
                listed.update(classes)
                if model_type == config["model_type"]:
                    named.update(classes)
    if build.architecture not in listed:
        raise unknown(build, transformers.__version__, listed)
    if build.architecture not in named:
        words = (build.architecture, config["model_type"], ", ".join(sorted(named)[:10]))
        raise ModelError("%s is not made of a configuration of `%s`; those that are: %s" % words)
    return getattr(transformers, build.architecture)


def _inputs(module):
    """What `forward` cannot do without, in the order in which it takes it."""
    takes = inspect.signature(module.forward).parameters
    main = module.main_input_name
    if main == _IMAGE:
        return [Tensor(main, "float32", (None, getattr(module.config, "num_channels", None), None, None))]
    if main in (_SOUND, _FEATURES):
        return [Tensor(main, "float32", None)]
    names = ["input_ids"] + [name for name in ("attention_mask",) if name in takes]
    if "token_type_ids" in takes and getattr(module.config, "type_vocab_size", 0) > 1:
        names.append("token_type_ids")
    return [Tensor(name, "int64", (None, None)) for name in names]


def _output_names(architecture):
    return next((names for end, names in _OUTPUTS if architecture.endswith(end)), ("logits",))


def _called(torch, module, names):
    class Called(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = module

        def forward(self, *tensors):
            return dict(self.model(**dict(zip(names, tensors)), return_dict=True).items())

    return Called().eval()
