"""A configuration of transformers leads to no other file, model or code. Nothing here needs the library."""

import json
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope_worker.predictor.predictor import ModelError
from mlmodelscope_worker.predictor.transformers_reach import refuse_folder, refuse_reaching_out

TIMM = {"model_type": "timm_wrapper", "architecture": "resnet18"}
DETR = {"model_type": "detr", "backbone": "resnet50", "use_timm_backbone": True}


def deep(levels: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for _ in range(levels):
        made = {"text_config": made}
    return made


@pytest.mark.parametrize(
    "config",
    [
        {**TIMM, "model_args": {"checkpoint_path": "evil.pth"}},  # timm opens it, pickles too in its older releases
        {"model_type": "gemma3n", "vision_config": {**TIMM, "model_args": {"checkpoint_path": "/tmp/evil.pth"}}},
        {**TIMM, "model_args": {"pretrained_cfg": {"file": "/etc/passwd"}}},
        {**TIMM, "model_args": {"pretrained": True}},
        {**TIMM, "model_args": {"cache_dir": "x"}},
        {**TIMM, "model_args": ["a"]},
        {**TIMM, "architecture": "local-dir:/somewhere"},
        {**TIMM, "architecture": "hf-hub:evil/model"},
        {**DETR, "backbone": "evil/model"},
        {**DETR, "backbone": "./evil"},
        {**DETR, "backbone_kwargs": {"trust_remote_code": True}},
        {**DETR, "backbone_config": {"model_type": "timm_backbone", "backbone": "/evil"}},
        {"model_type": "llama", "attn_implementation": "evil/kernel"},
        {"model_type": "gemma3", "text_config": {"_attn_implementation": "evil/kernel@main:f"}},
        {"model_type": "gemma3", "attn_implementation": {"text_config": "evil/kernel"}},
        {"model_type": "mixtral", "experts_implementation": "evil/kernel"},
        {"model_type": "x", "parts": [{"model_args": {"checkpoint_path": "x"}}]},
        deep(200),
    ],
)
def test_what_leads_elsewhere_is_refused(tmp_path: Path, config: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="refused"):
        refuse_reaching_out(config)
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="refused"):
        refuse_folder(str(tmp_path))


@pytest.mark.parametrize(
    "config",
    [
        {**TIMM, "model_args": {"depth": 3, "img_size": [224, 224], "act_layer": "gelu"}},
        {**TIMM, "model_args": None},
        {**DETR, "backbone_kwargs": {"in_chans": 3, "output_stride": 16, "out_indices": [1, 2, 3, 4]}},
        {"model_type": "llama", "attn_implementation": "flash_attention_2", "_name_or_path": "meta/llama"},
        {"model_type": "vit", "id2label": {"0": "a/b"}, "label2id": {"backbone": 0, "model_args": 1}},
        {"model_type": "dpt", "backbone": None, "backbone_config": {"model_type": "bit"}},
        deep(15),
    ],
)
def test_what_models_say_is_let_through(tmp_path: Path, config: dict[str, Any]) -> None:
    refuse_reaching_out(config)
    (tmp_path / "config.json").write_text(json.dumps(config))
    refuse_folder(str(tmp_path))


def test_an_adapter_is_no_model_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "/somewhere"}')
    with pytest.raises(ModelError, match="another model"):
        refuse_folder(str(tmp_path))


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000])
def test_a_damaged_configuration_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ModelError, match=r"config\.json is not"):
        refuse_folder(str(tmp_path))
