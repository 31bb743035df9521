"""Make a folder for `transformers` in float32 of a GGUF file: `gguf_folder.py FILE FOLDER`.

Needs torch, transformers, gguf and safetensors. For peers that read folders.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path


def main(arguments: list[str]) -> None:
    file, folder = map(Path, arguments)
    write_folder(file.resolve(), folder)
    print(f"wrote {folder}")


def write_folder(file: Path, folder: Path) -> None:
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    os.environ["HF_HUB_OFFLINE"] = "1"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:  # transformers looks for the file by its name inside of a folder
        Path(made, "model.gguf").symlink_to(file)
        model = AutoModelForCausalLM.from_pretrained(made, gguf_file="model.gguf", dtype=torch.float32)
        AutoTokenizer.from_pretrained(made, gguf_file="model.gguf").save_pretrained(folder)
    config = model.config.to_dict()
    config["architectures"] = [type(model).__name__]
    config.pop("quantization_config", None)  # what is written is not quantized any more
    (folder / "config.json").write_text(json.dumps(config, indent=1, default=str), encoding="utf-8")
    model.generation_config.save_pretrained(folder)
    tensors = {name: each.contiguous() for name, each in model.state_dict().items()}
    if config.get("tie_word_embeddings"):
        tensors.pop("lm_head.weight", None)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    main(sys.argv[1:])
