"""Tiny Llamas, random or trained: one set of weights, written as a folder for transformers and as GGUF.

What is random has words of its own and needs no file. `stories` reads the checkpoint and the vocabulary of llama2.c.
It runs inside the frameworks' own stacks, so it is written for Python 3.6.
"""

import json
import struct
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np

SPECIAL = [b"<unk>", b"<s>", b"</s>"]
EPSILON, THETA = 1e-5, 10000.0


class Llama:
    """`weights` by kind, those of layers stacked; `pieces` are (bytes, score) of each token, `▁` for a blank."""

    def __init__(self, sizes: Tuple[int, ...], weights: Dict[str, np.ndarray], pieces: List[Tuple[bytes, float]]):
        self.dim, self.hidden, self.layers, self.heads, self.kv_heads, self.vocabulary, self.length = sizes
        self.weights, self.pieces = weights, pieces

    @property
    def texts(self) -> List[str]:
        return [piece.decode("utf-8") for piece, _ in self.pieces]


def shapes(sizes: Tuple[int, ...]) -> List[Tuple[str, Tuple[int, ...]]]:
    dim, hidden, layers, heads, kv_heads, vocabulary, _ = sizes
    kv = dim // heads * kv_heads
    return [
        ("embedding", (vocabulary, dim)),
        ("attention_norm", (layers, dim)),
        ("wq", (layers, dim, dim)),
        ("wk", (layers, kv, dim)),
        ("wv", (layers, kv, dim)),
        ("wo", (layers, dim, dim)),
        ("ffn_norm", (layers, dim)),
        ("w1", (layers, hidden, dim)),
        ("w2", (layers, dim, hidden)),
        ("w3", (layers, hidden, dim)),
        ("norm", (dim,)),
    ]


def random_llama(seed: int = 0, spoiled: bool = False) -> Llama:
    """Two layers that know bytes and a few words; a spoiled one answers with not-a-number."""
    words = ["▁", "a", "b", "c", "d", "▁a", "▁b", "ab", "▁ab", "cd", "▁cd", "▁abcd", "A", "B", ".", "▁A"]
    pieces = [(each, 0.0) for each in SPECIAL] + [(b"<0x%02X>" % byte, 0.0) for byte in range(256)]
    pieces += [(each.encode("utf-8"), -float(place)) for place, each in enumerate(words)]
    sizes = (32, 64, 2, 4, 2, len(pieces), 64)
    random = np.random.RandomState(seed)
    weights = {name: random.randn(*shape).astype("<f4") * 0.3 for name, shape in shapes(sizes)}
    for name in ("attention_norm", "ffn_norm", "norm"):
        weights[name] = np.abs(weights[name]) + 1.0
    if spoiled:
        weights["norm"][:] = np.nan
    return Llama(sizes, weights, pieces)


def stories(folder: Path) -> Llama:
    """Andrej Karpathy's stories260K."""
    content = (folder / "stories260K.bin").read_bytes()
    sizes = struct.unpack("<7i", content[:28])
    values, place, weights = np.frombuffer(content[28:], "<f4"), 0, {}
    for name, shape in shapes(sizes):
        count = int(np.prod(shape))
        weights[name] = values[place : place + count].reshape(shape)
        place += count
    content, pieces, place = (folder / "tok512.bin").read_bytes(), [], 4
    while place < len(content):
        score, length = struct.unpack_from("<fi", content, place)
        pieces.append((content[place + 8 : place + 8 + length].replace(b" ", "▁".encode("utf-8")), score))
        place += 8 + length
    pieces[:3] = [(each, 0.0) for each in SPECIAL]
    return Llama(sizes, weights, pieces)


def halves(matrix: np.ndarray, heads: int) -> np.ndarray:
    """Rows of each head in the order of those who turn halves, not adjacent pairs."""
    rows, columns = matrix.shape
    return matrix.reshape(heads, rows // heads // 2, 2, columns).transpose(0, 2, 1, 3).reshape(rows, columns)


def write_config(llama: Llama, folder: Path) -> None:
    """What stands beside the weights: config.json, tokenizer.json and its configuration."""
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": llama.dim,
        "intermediate_size": llama.hidden,
        "num_hidden_layers": llama.layers,
        "num_attention_heads": llama.heads,
        "num_key_value_heads": llama.kv_heads,
        "vocab_size": llama.vocabulary,
        "max_position_embeddings": llama.length,
        "rms_norm_eps": EPSILON,
        "rope_theta": THETA,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "torch_dtype": "float32",
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(llama)), encoding="utf-8")
    words = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(words), encoding="utf-8")


def write_folder(llama: Llama, folder: Path) -> Path:
    """For transformers: model.safetensors, and what stands beside it."""
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    write_config(llama, folder)
    w, found = llama.weights, {}
    for layer in range(llama.layers):
        start = "model.layers.%d." % layer
        found[start + "input_layernorm.weight"] = w["attention_norm"][layer]
        found[start + "post_attention_layernorm.weight"] = w["ffn_norm"][layer]
        found[start + "self_attn.q_proj.weight"] = halves(w["wq"][layer], llama.heads)
        found[start + "self_attn.k_proj.weight"] = halves(w["wk"][layer], llama.kv_heads)
        found[start + "self_attn.v_proj.weight"] = w["wv"][layer]
        found[start + "self_attn.o_proj.weight"] = w["wo"][layer]
        for name, kind in (("gate", "w1"), ("down", "w2"), ("up", "w3")):
            found[start + "mlp.%s_proj.weight" % name] = w[kind][layer]
    found["model.embed_tokens.weight"], found["model.norm.weight"] = w["embedding"], w["norm"]
    found = {name: np.ascontiguousarray(value) for name, value in found.items()}
    save_file(found, str(folder / "model.safetensors"), metadata={"format": "pt"})
    return folder


def tokenizer(llama: Llama) -> Dict[str, Any]:
    """The vocabulary as a tokenizer.json: what scores higher is merged first."""
    numbers = {text: place for place, text in enumerate(llama.texts)}
    merges = []
    for place, (_, score) in enumerate(llama.pieces[259:], 259):
        text = llama.texts[place]
        for cut in range(1, len(text)):
            if text[:cut] in numbers and text[cut:] in numbers:
                merges.append((-score, place, [text[:cut], text[cut:]]))
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    added = [dict(flags, id=place, content=each.decode("utf-8")) for place, each in enumerate(SPECIAL)]
    normal = [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ]
    decoders = [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ]
    return {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": {"type": "Sequence", "normalizers": normal},
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": numbers,
            "merges": [each for _, _, each in sorted(merges, key=lambda one: one[:2])],
        },
    }


def write_gguf(llama: Llama, path: Path) -> Path:
    """For llama.cpp, in float32."""
    import gguf

    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(llama.length)
    writer.add_embedding_length(llama.dim)
    writer.add_block_count(llama.layers)
    writer.add_feed_forward_length(llama.hidden)
    writer.add_head_count(llama.heads)
    writer.add_head_count_kv(llama.kv_heads)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_rope_dimension_count(llama.dim // llama.heads)
    writer.add_rope_freq_base(THETA)
    writer.add_vocab_size(llama.vocabulary)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([piece for piece, _ in llama.pieces])
    writer.add_token_scores([score for _, score in llama.pieces])
    writer.add_token_types([2, 3, 3] + [6] * 256 + [1] * (llama.vocabulary - 259))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    w = llama.weights
    writer.add_tensor("token_embd.weight", np.ascontiguousarray(w["embedding"]))
    writer.add_tensor("output_norm.weight", np.ascontiguousarray(w["norm"]))
    names = {
        "attn_norm": "attention_norm",
        "attn_q": "wq",
        "attn_k": "wk",
        "attn_v": "wv",
        "attn_output": "wo",
        "ffn_norm": "ffn_norm",
        "ffn_gate": "w1",
        "ffn_down": "w2",
        "ffn_up": "w3",
    }
    for layer in range(llama.layers):
        for name, kind in names.items():
            writer.add_tensor("blk.%d.%s.weight" % (layer, name), np.ascontiguousarray(w[kind][layer]))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
