"""Make a folder for `transformers` of stories260K, Andrej Karpathy's small model: `stories_model.py BIN TOK FOLDER`.

`BIN` and `TOK` are `stories260K.bin` and `tok512.bin` of llama2.c. Needs numpy and safetensors.
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np


def main(arguments: list[str]) -> None:
    model, tokenizer, folder = map(Path, arguments)
    write_folder(model, tokenizer, folder)
    print(f"wrote {folder}")


def write_folder(model: Path, tokenizer: Path, folder: Path) -> None:
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    sizes, tensors = _weights(model.read_bytes())
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    _write(folder / "config.json", _config(sizes))
    _write(folder / "generation_config.json", {"bos_token_id": 1, "eos_token_id": 1, "do_sample": False})
    _write(folder / "tokenizer.json", _tokenizer(_pieces(tokenizer.read_bytes(), sizes["vocabulary"])))
    _write(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "<s>",
            "eos_token": "</s>",
            "unk_token": "<unk>",
            "clean_up_tokenization_spaces": False,
            "model_max_length": sizes["length"],
        },
    )


def _write(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _weights(raw: bytes) -> tuple[dict[str, int], dict[str, np.ndarray]]:
    names = ("dim", "hidden", "layers", "heads", "kv_heads", "vocabulary", "length")
    sizes = dict(zip(names, struct.unpack("7i", raw[:28]), strict=True))
    values, place = np.frombuffer(raw, "<f4", offset=28), 0
    dim, hidden, layers, vocabulary = sizes["dim"], sizes["hidden"], sizes["layers"], sizes["vocabulary"]
    narrow = dim // sizes["heads"] * sizes["kv_heads"]

    def take(*shape: int) -> np.ndarray:
        nonlocal place
        count = int(np.prod(shape))
        found = values[place : place + count].reshape(shape)
        place += count
        return found

    tensors = {"model.embed_tokens.weight": take(vocabulary, dim)}
    for name, rows, columns in (
        ("input_layernorm", dim, 0),
        ("self_attn.q_proj", dim, dim),
        ("self_attn.k_proj", narrow, dim),
        ("self_attn.v_proj", narrow, dim),
        ("self_attn.o_proj", dim, dim),
        ("post_attention_layernorm", dim, 0),
        ("mlp.gate_proj", hidden, dim),
        ("mlp.down_proj", dim, hidden),
        ("mlp.up_proj", hidden, dim),
    ):
        for layer, each in enumerate(take(layers, rows, columns) if columns else take(layers, rows)):
            heads = {"self_attn.q_proj": sizes["heads"], "self_attn.k_proj": sizes["kv_heads"]}.get(name)
            tensors[f"model.layers.{layer}.{name}.weight"] = _halves(each, heads) if heads else each
    tensors["model.norm.weight"] = take(dim)
    return sizes, {name: np.ascontiguousarray(each) for name, each in tensors.items()}


def _halves(weights: np.ndarray, heads: int) -> np.ndarray:
    """llama2.c rotates adjacent pairs, transformers the two halves of a head."""
    rows, columns = weights.shape
    return weights.reshape(heads, rows // heads // 2, 2, columns).transpose(0, 2, 1, 3).reshape(rows, columns)


def _config(sizes: dict[str, int]) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": sizes["dim"],
        "intermediate_size": sizes["hidden"],
        "num_hidden_layers": sizes["layers"],
        "num_attention_heads": sizes["heads"],
        "num_key_value_heads": sizes["kv_heads"],
        "vocab_size": sizes["vocabulary"],
        "max_position_embeddings": sizes["length"],
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "bos_token_id": 1,
        "eos_token_id": 1,
        "torch_dtype": "float32",
    }


def _pieces(raw: bytes, count: int) -> list[tuple[float, str]]:
    found, place = [], 4
    for _ in range(count):
        score, length = struct.unpack_from("<fi", raw, place)
        place += 8
        found.append((score, raw[place : place + length].decode("utf-8").replace(" ", "▁")))
        place += length
    for number, name in enumerate(("<unk>", "<s>", "</s>")):
        found[number] = (found[number][0], name)
    return found


def _tokenizer(pieces: list[tuple[float, str]]) -> dict[str, Any]:
    vocabulary = {piece: number for number, (_, piece) in enumerate(pieces)}
    merges = []
    for score, piece in pieces[259:]:
        for cut in range(1, len(piece)):
            if piece[:cut] in vocabulary and piece[cut:] in vocabulary:
                merges.append((-score, vocabulary[piece[:cut]], vocabulary[piece[cut:]], [piece[:cut], piece[cut:]]))
    special = [
        {
            "id": number,
            "content": piece,
            "special": True,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
        }
        for number, (_, piece) in enumerate(pieces[:3])
    ]
    one, two = {"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "pre_tokenizer": None,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [one, two],
            "pair": [one, two, one, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "<unk>",
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": True,
            "ignore_merges": False,
            "vocab": vocabulary,
            "merges": [each for *_, each in sorted(merges)],
        },
    }


if __name__ == "__main__":
    main(sys.argv[1:])
