"""What a library says of an architecture: its pictures, weights and license; run inside a stack.

    python -m mlmodelscope_worker.builder.configuration REQUEST.json

The request has `builder`, `architecture` and `report`, the file that the answer goes to.
"""

import json
import sys

from ..parameters import ParameterError
from ..predictor.predictor import ModelError
from ..predictor.pytorch import torch_on
from . import torchvision_operators
from .built import Build, unknown
from .libraries import check_architecture


def main(path):
    with open(path) as file:
        asked = json.load(file)
    try:
        check_architecture(asked["builder"], asked["architecture"])
        report = {"configuration": _of_timm(asked["architecture"])}
    except ParameterError as error:
        report = {"refused": "`%s` %s" % (asked["architecture"], error.message)}
    except ModelError as error:
        report = {"refused": str(error)}
    with open(asked["report"], "w") as file:
        json.dump(report, file, default=list)


def _of_timm(architecture):
    torch, _ = torch_on("cpu", 1)
    torchvision_operators.provide(torch)
    import timm

    known = set(timm.list_models()) | set(timm.list_models(pretrained=True))
    if architecture not in known:
        raise unknown(Build("timm", architecture, {}, None, None), timm.__version__, known)
    found = timm.get_pretrained_cfg(architecture).to_dict()
    return {"pretrained_cfg": {name: value for name, value in found.items() if value is not None}}


if __name__ == "__main__":
    main(sys.argv[1])
