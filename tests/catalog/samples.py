"""A few rows of every form of source, as their authors write them."""

import json
from pathlib import Path

TIMM = {
    "timm/data/constants.py": b"""
IMAGENET_DEFAULT_MEAN = (0.485, 0.456, 0.406)
IMAGENET_DEFAULT_STD = (0.229, 0.224, 0.225)
IMAGENET_DPN_STD = tuple([1 / (.0167 * 255)] * 3)
""",
    "timm/models/_registry.py": b"",
    "timm/models/resnet.py": b"""
from timm.data import IMAGENET_DEFAULT_MEAN, IMAGENET_DEFAULT_STD

def _cfg(url='', **kwargs):
    '''One return.'''
    return {
        'url': url, 'num_classes': 1000, 'input_size': (3, 224, 224), 'crop_pct': 0.875, 'interpolation': 'bilinear',
        'mean': IMAGENET_DEFAULT_MEAN, 'std': IMAGENET_DEFAULT_STD, 'license': 'apache-2.0', **kwargs}

def _tcfg(url='', **kwargs):
    return _cfg(url=url, **dict({'interpolation': 'bicubic'}, **kwargs))

default_cfgs = generate_default_cfgs({
    'resnet50.a1_in1k': _tcfg(hf_hub_id='timm/', test_input_size=(3, 288, 288), test_crop_pct=1.0),
    'resnet18.old_in1k': _cfg(url='https://host.example/resnet18-5c106cde.pth', crop_pct=0.95),
    'resnet50.untrained': _cfg(),
    'resnet50.code': __import__('os').system('touch /tmp/executed'),
})
""",
    "results/results-imagenet.csv": b"""model,img_size,top1,top1_err,top5,top5_err,param_count,crop_pct,interpolation
resnet50.a1_in1k,288,81.214,18.786,95.340,4.660,25.56,1.000,bicubic
resnet18.old_in1k,224,73.16,26.84,91.03,8.97,"1,011.69",0.950,bilinear
resnet99.gone,224,70,30,90,10,25.56,0.950,bicubic
short,row
""",
}
TORCHVISION = {
    "torchvision/models/_meta.py": b"",
    "torchvision/models/resnet.py": b'''
from functools import partial
_COMMON_META = {"min_size": (1, 1)}

class ResNet50_Weights(WeightsEnum):
    IMAGENET1K_V1 = Weights(
        url="https://download.example/resnet50-0676ba61.pth",
        transforms=partial(ImageClassification, crop_size=224),
        meta={**_COMMON_META, "num_params": 25557032, "_metrics": {"ImageNet-1K": {"acc@1": 76.130, "acc@5": 92.862}},
              "_ops": 4.089, "_docs": """The paper's recipe. More."""},
    )
    DEFAULT = IMAGENET1K_V1

class Raft_Large_Weights(WeightsEnum):
    C_T_V1 = Weights(
        url="https://download.example/raft_large-22a6c270.pth",
        transforms=OpticalFlow,
        meta={"num_params": 5257536, "_metrics": {"Sintel": {"epe": 1.4411}, "Kitti": {"per_image_epe": 5.0172}}},
    )

@register_model()
def resnet50(*, weights: Optional[ResNet50_Weights] = None, progress=True): ...
def _raft(*, weights: Optional[Raft_Large_Weights] = None): ...
@register_model(name="raft_large")
def raft_as_it_is_called_inside(*, weights: Optional[Raft_Large_Weights] = None): ...
''',
}
OPENMMLAB = {
    "configs/pose/metafile.yml": b"""
Collections:
- Name: HRNet
  Paper: {Title: Deep, URL: 'https://arxiv.org/abs/1902.09212'}
Models:
- Name: td-hm_hrnet-w48
  In Collection: HRNet
  Config: configs/pose/td-hm_hrnet-w48.py
  Metadata: {FLOPs: 15770000000, Parameters: 63600000}
  Results:
  - Task: Keypoint Detection
    Dataset: COCO
    Metrics: {AP: 0.722, AP@0.5: 0.9}
  Weights: https://download.example/hrnet_w48-0e67c616.pth
""",
    "configs/frcnn/metafile.yml": b"""
Models:
- Name: faster
  Config: configs/frcnn/faster.py
  Results: {Task: Object Detection, Dataset: COCO, Metrics: {box AP: 37.4}}
  Weights: https://download.example/faster-047c8118.pth
- Name: faster
  Config: configs/frcnn/faster2.py
  Results:
  - {Task: Object Detection, Dataset: COCO, Metrics: {box AP: 0.9, mIoU(ms+flip): 40.1, odd: null}}
  Weights: https://download.example/faster-147c8118.pth
""",
}
ONNX = {
    "ONNX_HUB_MANIFEST.json": json.dumps(
        [
            {
                "model": "ResNet-50",
                "model_path": "validated/vision/classification/resnet/model/resnet50-v1-7.onnx",
                "onnx_version": "1.2",
                "opset_version": 7,
                "metadata": {
                    "model_sha": "ab" * 32,
                    "model_bytes": 102583340,
                    "tags": ["vision", "classification"],
                    "io_ports": {
                        "inputs": [{"name": "data", "shape": ["N", 3, 224, 224], "type": "tensor(float)"}],
                        "outputs": [{"name": "prob", "shape": ["N", 1000], "type": "tensor(float)"}],
                    },
                },
            },
            {"model": "climbs", "model_path": "../../etc/passwd", "metadata": {}},
        ]
    ).encode()
}
KERAS = {
    "applications.md": b"""# Keras Applications

| Model | Size (MB)| Top-1 Accuracy | Top-5 Accuracy | Parameters | Depth |
| ----- | -------: | -------------: | -------------: |  --------: | ----: |
| [ResNet50](resnet/#resnet50-function) | 98 | 74.9% | 92.1% | 25.6M | 107 |
| [ConvNeXtTiny](convnext/#convnexttiny-function) | 109.42 | 81.3% | - | 28.6M | - |
"""
}
DETECTRON2 = {
    "MODEL_ZOO.md": b"""# Detectron2 Model Zoo
#### Faster R-CNN:
<!-- a comment
of two lines -->
<table><tbody>
<th valign="bottom">Name</th>
<th valign="bottom">box<br/>AP</th>
<th valign="bottom">mask<br/>AP</th>
<th valign="bottom">download</th>
 <tr><td align="left"><a href="configs/COCO-Detection/faster_rcnn_R_50_C4_1x.yaml">R50-C4</a></td>
<td align="center">35.7</td>
<td align="center"></td>
<td><a href="https://dl.example/detectron2/model_final_721ade.pkl">model</a></td>
</tr>
</tbody></table>
"""
}
TENSORFLOW = {
    "tf2_detection_zoo.md": b"""# Zoo

Model name | Speed (ms) | COCO mAP | Outputs
---------- | :--------: | :------: | :-----:
[CenterNet Keypoints](http://download.example/tf2/centernet_kpts_coco17.tar.gz) | 76 | 40.0/61.4 | Boxes/Keypoints
[EfficientDet D0](http://download.example/tf2/efficientdet_d0.tar.gz) | 39 | 33.6 | Boxes
"""
}
HUGGINGFACE = {
    f"models--owner--bert-qa/snapshots/{'a' * 40}/README.md": b"""---
license: mit
pipeline_tag: question-answering
model-index:
- name: bert-qa
  results:
  - task: {type: question-answering}
    dataset: {name: SQuAD, type: squad, split: validation}
    metrics:
    - {type: exact_match, value: 0.8121}
    - {type: f1, value: 88.5}
---
# A card
""",
    f"models--owner--bert-qa/snapshots/{'a' * 40}/config.json": b'{"architectures": ["BertForQuestionAnswering"]}',
    f"models--owner--bert-qa/snapshots/{'a' * 40}/model.safetensors": b"",
}
OPEN_MODEL_ZOO = {
    "models/public/net/model.yml": b"""
description: A net.
task_type: classification
framework: onnx
license: https://host.example/LICENSE
files:
  - name: net.onnx
    size: 10
    checksum: 2b0d
    source: https://host.example/net.onnx
""",
    "models/public/net/accuracy-check.yml": b"""
models:
  - name: net
    launchers: [{framework: onnx_runtime, adapter: classification}]
    datasets:
      - name: imagenet_1000_classes
        preprocessing: [{type: resize, size: 256}, {type: crop, size: 224}]
        metrics: [{name: accuracy@top1, type: accuracy, top_k: 1, reference: 0.76128}]
""",
}
MANIFESTS = {
    "net.yml": b"""name: net
version: 1.0.0
task: classification
framework: {name: onnxruntime}
inputs: [{type: tensor}]
outputs: [{type: probability}]
source: {graph_path: net.onnx}
claims: [{metric: top1, value: 75.10, dataset: imagenet-val}]
"""
}
RESULTS = {
    "2026/night.csv": b"""Model,Metric,Value,Dataset,Unit,Url,Framework
ours/Net-50,Top-1 Accuracy,76.10,ImageNet-1k,%,https://host.example/net50.onnx,onnxruntime
ours/Net-50,top5,0.9310,imagenet,share,,
ours/Net-50,top5,0.9310,imagenet,share,,
ours/Net-50,speed-up,3.1,imagenet,,,
""",
    "2026/day.jsonl": b"""{"model_name": "ours/Net-50", "measure": "psnr", "score": 31.40, "data": "set5", "split": "x"}
{"model_name": "ours/Net-50", "measure": "top1", "score": NaN, "benchmark": "imagenet"}
""",
}
FORMS = {
    "timm": TIMM,
    "torchvision": TORCHVISION,
    "openmmlab": OPENMMLAB,
    "onnx": ONNX,
    "keras": KERAS,
    "detectron2": DETECTRON2,
    "tensorflow": TENSORFLOW,
    "huggingface": HUGGINGFACE,
    "open_model_zoo": OPEN_MODEL_ZOO,
    "manifests": MANIFESTS,
    "results": RESULTS,
}


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder
