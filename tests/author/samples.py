"""Small configurations of every kind, written by hand after the formats' documentation."""

from __future__ import annotations

import json
from typing import Any

IMAGENET_MEAN, IMAGENET_STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]

VIT: dict[str, Any] = {
    "do_normalize": True,
    "do_rescale": True,
    "do_resize": True,
    "image_mean": [0.5, 0.5, 0.5],
    "image_processor_type": "ViTImageProcessor",
    "image_std": [0.5, 0.5, 0.5],
    "resample": 2,
    "rescale_factor": 0.00392156862745098,
    "size": {"height": 224, "width": 224},
}
CONVNEXT: dict[str, Any] = {
    "crop_pct": 0.875,
    "do_normalize": True,
    "do_resize": True,
    "feature_extractor_type": "ConvNextFeatureExtractor",
    "image_mean": IMAGENET_MEAN,
    "image_std": IMAGENET_STD,
    "resample": 3,
    "size": 224,
}
CLIP: dict[str, Any] = {
    "crop_size": {"height": 224, "width": 224},
    "do_center_crop": True,
    "do_convert_rgb": True,
    "do_normalize": True,
    "do_rescale": True,
    "do_resize": True,
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_processor_type": "CLIPImageProcessor",
    "image_std": [0.26862954, 0.26130258, 0.27577711],
    "resample": 3,
    "rescale_factor": 0.00392156862745098,
    "size": {"shortest_edge": 224},
}
DETR: dict[str, Any] = {
    "do_normalize": True,
    "do_pad": True,
    "do_resize": True,
    "feature_extractor_type": "DetrFeatureExtractor",
    "format": "coco_detection",
    "image_mean": IMAGENET_MEAN,
    "image_std": IMAGENET_STD,
    "max_size": 1333,
    "resample": 2,
    "size": 800,
}
EFFICIENTNET: dict[str, Any] = {
    **VIT,
    "image_processor_type": "EfficientNetImageProcessor",
    "include_top": True,
    "rescale_factor": 0.00784313725490196,
    "rescale_offset": True,
}
HF_CONFIG: dict[str, Any] = {
    "_name_or_path": "someone/toy-vit",
    "architectures": ["ViTForImageClassification"],
    "hidden_size": 8,
    "id2label": {"0": "cat", "1": "dog", "2": "bird", "3": "fish"},
    "image_size": 8,
    "label2id": {"cat": 0, "dog": 1, "bird": 2, "fish": 3},
    "model_type": "vit",
    "num_channels": 3,
    "torch_dtype": "float32",
}
TIMM: dict[str, Any] = {
    "architecture": "toynet",
    "num_classes": 1000,
    "pretrained_cfg": {
        "tag": "a1_in1k",
        "input_size": [3, 224, 224],
        "test_input_size": [3, 288, 288],
        "test_crop_pct": 1.0,
        "interpolation": "bicubic",
        "crop_pct": 0.95,
        "crop_mode": "center",
        "mean": IMAGENET_MEAN,
        "std": IMAGENET_STD,
        "num_classes": 1000,
        "first_conv": "conv1",
        "classifier": "fc",
        "license": "apache-2.0",
        "hf_hub_id": "timm/toynet.a1_in1k",
    },
}
TIMM_PRINTED = """{'url': '', 'num_classes': 1000, 'input_size': (3, 299, 299), 'pool_size': (8, 8), 'crop_pct': 0.8975,
 'interpolation': 'bicubic', 'mean': (0.5, 0.5, 0.5), 'std': (0.5, 0.5, 0.5), 'first_conv': 'conv2d_1a.conv',
 'classifier': 'classif', 'label_offset': 1, 'fixed_input_size': True, 'license': None}"""
TORCHVISION: dict[str, Any] = {
    "name": "ToyNet_Weights.IMAGENET1K_V2",
    "url": "https://download.example.org/models/toynet-11ad3fa6.pth",
    "transforms": "ImageClassification(\n    crop_size=[224]\n    resize_size=[232]\n    mean=[0.485, 0.456, 0.406]\n"
    "    std=[0.229, 0.224, 0.225]\n    interpolation=InterpolationMode.BILINEAR\n)",
    "meta": {
        "categories": ["cat", "dog", "bird", "fish"],
        "num_params": 25557032,
        "min_size": [1, 1],
        "recipe": "https://example.org/recipe",
        "_metrics": {"ImageNet-1K": {"acc@1": 80.850, "acc@5": 95.434}},
        "_docs": "A toy.",
    },
}
ACCURACY_CHECK = """
models:
  - name: toynet-onnx
    launchers:
      - framework: onnx_runtime
        model: toynet.onnx
        adapter: classification
    datasets:
      - name: imagenet_1000_classes
        reader: pillow_imread
        preprocessing:
          - {type: resize, size: 256, aspect_ratio_scale: greater, use_pillow: true, interpolation: BILINEAR}
          - {type: crop, size: 224, use_pillow: true}
          - {type: normalization, std: 255}
          - type: normalization
            mean: (0.485, 0.456, 0.406)
            std: (0.229, 0.224, 0.225)
        metrics:
          - {name: accuracy@top1, type: accuracy, top_k: 1, reference: 0.76120}
          - {name: accuracy@top5, type: accuracy, top_k: 5, reference: 92.858}
  - name: toynet
    launchers:
      - framework: dlsdk
        adapter: classification
    datasets:
      - name: imagenet_1000_classes
        preprocessing:
          - {type: resize, size: 256}
          - {type: crop, size: 224}
        metrics:
          - {type: accuracy, reference: 0.7612}
"""
ACCURACY_CHECK_DETECTION = """
models:
  - name: toydet
    launchers:
      - framework: openvino
        adapter: {type: ssd_onnx, labels_out: labels, scores_out: scores, bboxes_out: boxes, threshold: 0.1}
        inputs:
          - {name: im_info, type: CONST_INPUT, value: [300, 300, 1]}
    datasets:
      - name: toy_coco
        preprocessing:
          - {type: flip, mode: horizontal}
          - {type: auto_resize}
          - {type: resize, dst_width: 600, dst_height: 300, aspect_ratio_scale: frcnn_keep_aspect_ratio}
        postprocessing:
          - {type: resize_prediction_boxes}
        metrics:
          - {type: map, integral: 11point, presenter: print_scalar, reference: 0.7967}
          - {type: mae, reference: 3.5}
dataset_definitions:
  - name: toy_coco
    annotation_conversion: {converter: mscoco_detection, has_background: true}
    reader: {type: opencv_imread, reading_flag: unchanged}
"""
ACCURACY_CHECK_SEGMENTATION = """
models:
  - name: toyseg
    launchers: [{framework: tf, adapter: segmentation, model: graph/frozen.pb}]
    datasets:
      - name: VOC2012
        reader: {type: opencv_imread, reading_flag: gray}
        preprocessing:
          - {type: resize, aspect_ratio_scale: fit_to_window, size: 513, interpolation: ANTIALIAS, use_pillow: True}
          - {type: padding, pad_value: '127.5,127.5,127.5', size: 513, pad_type: right_bottom}
        metrics: [{type: mean_iou, use_argmax: false, reference: 0.6841}]
"""
MODEL_YML = """
description: >-
  ToyNet, see the paper <https://example.org/paper>.
task_type: classification
files:
  - name: toynet.onnx
    size: 100
    checksum: 9ad7aa4ab5d1cd5c1ba0b9d3a1dd4e8f0b6b3a4c5e2f7d8c9b0a1f2e3d4c5b6a9ad7aa4ab5d1cd5c1ba0b9d3a1dd4e8f
    source: https://example.org/toynet.onnx
  - name: labels.txt
    size: 10
    checksum: none
    source: {$type: google_drive, id: abc}
input_info: [{name: data, shape: [1, 3, 224, 224], layout: NCHW}]
model_optimizer_args:
  - --input_shape=[1,3,224,224]
  - --input=data
  - --mean_values=data[123.675,116.28,103.53]
  - --scale_values=data[58.395,57.12,57.375]
  - --reverse_input_channels
  - --output=prob
framework: onnx
quantizable: yes
license: https://example.org/LICENSE
"""
LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 8,
    "max_position_embeddings": 64,
    "torch_dtype": "bfloat16",
}
TOKENIZER: dict[str, Any] = {
    "add_bos_token": True,
    "bos_token": {"content": "<s>", "lstrip": False},
    "eos_token": "</s>",
    "chat_template": "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}",
    "clean_up_tokenization_spaces": True,
    "model_max_length": 1000000000000000019884624838656,
    "tokenizer_class": "LlamaTokenizer",
}
TEMPLATE = "{# turns #}{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
GENERATION: dict[str, Any] = {
    "bos_token_id": 1,
    "eos_token_id": [2, 7],
    "do_sample": True,
    "temperature": 0.6,
    "top_p": 0.9,
    "max_new_tokens": 128,
    "repetition_penalty": 1.1,
    "num_beams": 1,
    "stop_strings": ["<end>"],
    "transformers_version": "5.0.0",
}
MODEL_CARD = """---
license: apache-2.0
language: [en]
pipeline_tag: text-generation
model-index:
- name: someone/toy-lm
  results:
  - task: {type: text-generation, name: Text Generation}
    dataset: {type: ai2_arc, name: AI2 Reasoning Challenge (25-Shot), config: ARC-Challenge, split: test, \
args: {num_few_shot: 25}}
    metrics:
    - {type: acc_norm, value: 37.30, name: normalized accuracy}
    source: {url: "https://example.org/leaderboard", name: Open LLM Leaderboard}
  - task: {type: text-generation}
    dataset: {type: wikitext, name: WikiText, config: wikitext-2-raw-v1, split: test, revision: abc}
    metrics:
    - {type: perplexity, value: 27.614, verified: true, verifyToken: eyJhbGciOi}
    - {type: accuracy, value: 0.5}
    - {type: acc, value: 66.1 ± 0.4}
    - {type: exact_match, value: 1.4%}
    - {type: accuracy, value: much}
---
# A model

---
not: a header
---
""".replace("\\\n", "")
EVAL_RESULTS = """# from the hub
- dataset: {id: openai/gsm8k, task_id: default, revision: abc}
  value: 0.014
  date: "2026-01-02"
  source: {url: "https://example.org/log", name: Eval Logs, user: someone}
  verifyToken: eyJhbGciOi
- dataset: {id: Idavidrein/gpqa, task_id: gpqa_diamond}
  value: 0.412
  notes: no-tools
"""

TEXTS = {
    "vit": json.dumps(VIT, indent=2),
    "convnext": json.dumps(CONVNEXT),
    "clip": json.dumps(CLIP),
    "detr": json.dumps(DETR),
    "efficientnet": json.dumps(EFFICIENTNET),
    "hf_config": json.dumps(HF_CONFIG),
    "timm": json.dumps(TIMM),
    "timm_printed": TIMM_PRINTED,
    "torchvision": json.dumps(TORCHVISION),
    "accuracy_check": ACCURACY_CHECK,
    "accuracy_check_detection": ACCURACY_CHECK_DETECTION,
    "accuracy_check_segmentation": ACCURACY_CHECK_SEGMENTATION,
    "model_yml": MODEL_YML,
    "llama": json.dumps(LLAMA),
    "tokenizer": json.dumps(TOKENIZER),
    "generation": json.dumps(GENERATION, indent=1),
    "model_card": MODEL_CARD,
    "eval_results": EVAL_RESULTS,
}
KINDS = {
    "vit": "huggingface",
    "convnext": "huggingface",
    "clip": "huggingface",
    "detr": "huggingface",
    "efficientnet": "huggingface",
    "hf_config": "huggingface_config",
    "timm": "timm",
    "timm_printed": "timm",
    "torchvision": "torchvision",
    "accuracy_check": "accuracy_checker",
    "accuracy_check_detection": "accuracy_checker",
    "accuracy_check_segmentation": "accuracy_checker",
    "model_yml": "open_model_zoo",
    "llama": "huggingface_config",
    "tokenizer": "huggingface_tokenizer",
    "generation": "huggingface_generation",
    "model_card": "model_card",
    "eval_results": "eval_results",
}
