"""Inside a stack: architectures filled with fixed random weights, their files, and what the library answers with them.

Takes {library, folder, names} on standard input. Files take turns: safetensors, a state dict, shards with an index.
"""

import json
import os
import sys

import numpy as np
import torch

from mlmodelscope_worker.builder import torchvision_operators

torchvision_operators.provide(torch)

import timm  # noqa: E402
import torchvision  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

FORMS = ("safetensors", "state dict", "shards")
_QUICK = ("googlenet", "inception_v3")


def made(library, name):
    torch.manual_seed(20)
    if library == "timm":
        return timm.create_model(name, pretrained=False)
    options = {"init_weights": False} if name in _QUICK else {}
    if any(word in name for word in ("deeplab", "fcn_", "lraspp")):
        options["weights_backbone"] = None
    return torchvision.models.get_model(name, weights=None, **options)


def disturb(module):
    """Numbers that say where they are: fresh modules have zeros and ones, which cannot tell one tensor from another."""
    random = torch.Generator().manual_seed(21)
    with torch.no_grad():
        for _name, value in module.state_dict().items():
            if value.dtype.is_floating_point:
                noise = torch.rand(value.shape, generator=random)
                value.mul_(0.9 + 0.2 * noise) if value.abs().sum() else value.copy_(0.02 * noise)


def save(module, form, folder):
    tensors = {name: value.contiguous().clone() for name, value in module.state_dict().items()}
    if form == "safetensors":
        path = os.path.join(folder, "model.safetensors")
        save_file(tensors, path)
    elif form == "state dict":
        path = os.path.join(folder, "model.pth")
        torch.save(tensors, path)
    else:
        path, names = folder, list(tensors)
        half = len(names) // 2
        places = {}
        for number, part in enumerate((names[:half], names[half:])):
            file = f"model-{number + 1:05d}-of-00002.safetensors"
            save_file({name: tensors[name] for name in part}, os.path.join(folder, file))
            places.update(dict.fromkeys(part, file))
        with open(os.path.join(folder, "model.safetensors.index.json"), "w") as file:
            json.dump({"metadata": {}, "weight_map": places}, file)
    return path


def picture(library, module, name):
    """Something that it takes: the size that it was made for, or a small one."""
    size = (3, 224, 224)
    if library == "timm":
        size = tuple(module.pretrained_cfg.get("input_size", size))
        if not module.pretrained_cfg.get("fixed_input_size"):
            size = (size[0], min(size[1], 128), min(size[2], 128))
    elif "video" in type(module).__module__:
        size = (3, 16, 224, 224)
    elif name == "inception_v3":
        size = (3, 299, 299)
    return np.random.RandomState(22).standard_normal((1, *size)).astype(np.float32)


def main():
    asked = json.load(sys.stdin)
    results = []
    for number, name in enumerate(asked["names"]):
        form = FORMS[number % 3]
        folder = os.path.join(asked["folder"], str(number))
        os.makedirs(folder)
        module = made(asked["library"], name)
        disturb(module)
        module = module.eval()
        given = picture(asked["library"], module, name)
        with torch.inference_mode():
            answer = module(torch.from_numpy(given))
        answer = answer["out"] if isinstance(answer, dict) else answer
        np.save(os.path.join(folder, "given.npy"), given)
        np.save(os.path.join(folder, "answer.npy"), answer.numpy())
        results.append({"name": name, "form": form, "folder": folder, "weights": save(module, form, folder)})
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
