"""A small manifest in every form in which they were ever published."""

V0 = """\
name: Inception-BN
framework: mxnet
version: 0.1
type: cnn
dataset_name: ImageNet
input:
  type: image
  dimensions: [3, 224, 224]
output:
  type: label
features_url: http://example.org/synset.txt
graph_url: http://example.org/Inception-BN-symbol.json
weights_url: http://example.org/Inception-BN-0126.params
mean_image: [123.68, 116.78, 103.94]
"""

V1A = """\
name: DenseNet121 # name of your model
framework:
  name: Caffe2
  version: 0.8.1
version: 1.0
container:
  amd64:
    gpu: example/carml-caffe2:amd64-cpu
    cpu: example/carml-caffe2:amd64-gpu
  ppc64le:
    cpu: example/carml-caffe2:ppc64le-gpu
    gpu: example/carml-caffe2:ppc64le-gpu
license: unrestricted
inputs:
  - type: image
    parameters:
      layer_name: data
      dimensions: [3, 224, 224]
      mean: [103.94, 116.78, 123.68]
      scale: 0.017
output:
  type: feature
  parameters:
    features_url: https://example.org/synset.txt
    features_checksum: 4d234b5833aca44928065a180db3016a
model:
  base_url: https://example.org/densenet121/
  graph_path: predict_net.pb
  weights_path: init_net.pb
  is_archive: false
  graph_checksum: f53cb9ef2ceb556770e3609510bdf37d
  weights_checksum:
attributes:
  kind: CNN
  training_dataset: ImageNet
"""

V1B = """\
name: Inception_v3
framework:
  name: TensorFlow
  version: 1.10
version: 1.0
container:
  amd64:
    gpu: example/carml-caffe:amd64-cpu
    cpu: example/carml-caffe:amd64-gpu
description: >
  variant of Inception-v2 which adds BN-auxiliary.
references:
  - http://arxiv.org/abs/1512.00567
license: unrestricted
inputs:
  # first input type for the model
  - type: image
    description: the input image
    parameters: # type parameters
      element_type: float32s
      input_layer: 'input'
      layout: HWC
      color_mode: RGB
      dimensions: [3, 299, 299]
      mean: [128, 128, 128]
      scale: 128
output:
  type: classification
  parameters:
    element_type: float32
    probailities_layer: 'InceptionV3/Predictions/Reshape_1'
    probabilities_transform: softmax
    features_url: https://example.org/synset1.txt
    features_checksum: 6c05083991207dea5c37f2d271014fad
model:
  base_url: http://example.org/graphs.tar.gz
  graph_path: inception_v3_frozen.pb
  graph_checksum: 328f68f37ae0c180191e96c9b73a813e
  is_archive: true
attributes:
  kind: CNN
  training_dataset: ImageNet
  Top1: 78.0
  top5: 93.9
hidden: false
"""

V1C = """\
name: Language_Model
framework: {name: TensorFlow, version: '1.12'}
version: 1.0.0
inputs:
  - type: raw
    parameters:
      element_type: float32
      input_layer: 0
      input_type: slice
      url: https://example.org/input.npy
output:
  type: raw
  parameters: {element_type: float32, layer_name: out}
model:
  graph_path: https://example.org/model.pb
attributes: {kind: RNN}
"""

V2 = """\
name: torchvision_alexnet
framework:
  name: PyTorch
  version: 1.8.1
version: 1.0
license: unrestricted
modality: image_classification
inputs:
  - type: image
    element_type: float32
    layer_name: input
outputs:
  - type: classification
    element_type: float32
    layer_name: output
before_preprocess: |
  import os
preprocess: |
  import numpy as np
  def preprocess(ctx, data):
    return np.zeros((3, 224, 224))
postprocess: |
  import json
  def postprocess(ctx, data):
    open("log.txt", "w").write("x")
    return [json.dumps([0])]
model:
  graph_path: https://github.com/org/repo/raw/master/alexnet.pt
  graph_checksum:
  features_path: https://example.org/classes.txt
attributes:
  top1: 0.5652
  training_dataset: ImageNet
"""

CLOUD20 = """\
name: MLPerf_ResNet50_v1.5
version: 1.0.0
description: An image classification model
framework:
  name: TensorFlow
  version: '>=1.12.0 <2.0'
inputs:
  - type: image
    layer_name: input_tensor
    element_type: float32
    steps:
      - decode:
          data_layout: NHWC
          color_mode: RGB
      - resize:
          dimensions: [3, 224, 224]
          method: bilinear
          keep_aspect_ratio: true
      - normalize:
          mean: [123.68, 116.78, 103.94]
          rescale: 1.0
outputs:
  - type: probability
    layer_name: prob
    element_type: float32
    steps:
      - argsort:
          labels_url: https://example.org/synset.txt
model:
  graph_path: https://zenodo.org/record/2535873/files/resnet50_v1.pb
  checksum: 7b94a2da05dc30f6c0fb3d8a0b1f7a3b
attributes:
  training_dataset: [ImageNet, 1.0.0]
"""

CLOUD20_FRAMEWORK = """\
name: TensorFlow
version: 1.15.0
description: TensorFlow
containers:
  amd64:
    cpu: example/tensorflow:1-15-0-amd64-cpu
    gpu: example/tensorflow:1-15-0-amd64-gpu
  ppc64le:
    cpu: example/tensorflow:1-15-0-amd64-cpu
    gpu: example/tensorflow:latest
"""

DLSPEC_MODEL = """\
id: 1a2b-model
name: Inception-v3
version: 1.0.0
license: MIT
author: Jane Doe
task: image classification
description: ...
pre-process: |
  def pre_processing(ctx, data):
    return data
inputs:
  - type: image
    layer_name: data
    element_type: float32
job_type: inference
run: |
  def run(ctx, data):
    return data
model:
  graph_path: https://example.org/inception_v3.pb
  checksum: XXXX
post-process: |
  def post_processing(ctx, data):
    return data
outputs:
  - type: probability
    layer_name: prob
    element_type: float32
system_requirements: [gpu]
""".replace("checksum: XXXX", "checksum: 328f68f37ae0c180191e96c9b73a813e")

DLSPEC_HARDWARE = """\
id: 5f5d-hardware
cpu:
  - arch: x86-64
  - ncpu: 4
gpu:
  - arch: nvidia/sm70
  - memory: 16gb
  - driver_version: 440.33
interconnect: pcie
memory: 32gb
setup: |
  # before anything
  nvidia-smi -pm 1
  echo 1 > /proc/sys/vm/drop_caches
"""

DLSPEC_SOFTWARE = """\
id: 7c7c-software
name: TensorFlow
version: 1.0.0
container: dlspec/tf:2-1-0_amd64-gpu
env:
  - TF_ENABLE_WINOGRAD_NONFUSED: 1
"""

DLSPEC_DATASET = """\
id: 9e9e-dataset
name: ILSVRC 2012
version: 1.0.0
license: CC
sources:
  - source: s3://ilsvrc2012/validation_set
    name: test_set
  - source: s3://ilsvrc2012/labels
    name: labels
"""

DATASET = """\
name: pictures
version: 1.0.0
task: classification
format: folder
sources: [{url: https://example.org/pictures.zip#all/}]
"""

SOFTWARE = """\
name: stack
version: 1.0.0
framework: {name: onnxruntime, version: ^1.17}
stack:
  python: 3.10
  requirements: [onnxruntime==1.17.0, numpy, 'pillow>=10']
env: {OMP_NUM_THREADS: 4}
"""

LOG = """\
name: resnet50-log
version: 1.0.0
task: classification
manifests:
  model: {name: resnet50, version: 1.0.0}
  dataset: {name: imagenet-val, version: 1.0}
samples: 3
metrics:
  top1: {value: 0.76, low: 0.7, high: 0.8}
outputs:
  rows:
    - {sample: a.png, classes: [1, 2], scores: [0.5, 0.25]}
    - {sample: 17, error: broken}
"""

LISTING1 = """\
name: MLPerf_ResNet50
version: 1.0.0
task: classification
license: Apache-2.0
framework:
  name: TensorFlow
  version: ^1.x
  container:
    amd64:
      cpu: mlcn/tensorflow:1.13.0-cpu
      gpu: mlcn/tensorflow:1.13.0-gpu
inputs:
  - type: image
    layer_name: input_tensor
    element_type: float32
    processing:
      decode: {element_type: int8, data_layout: NHWC, color_layout: RGB}
      crop: {method: center, percentage: 87.5}
      resize: {dimensions: [3, 224, 224], method: bilinear, keep_aspect_ratio: true}
      mean: [123.68, 116.78, 103.94]
      rescale: 1.0
outputs:
  - type: probability
    layer_name: prob
    element_type: float32
    processing:
      features_url: https://example.org/synset.txt
source:
  graph_path: https://zenodo.org/record/2535873/files/resnet50_v1.pb
training_dataset: {name: ILSVRC 2012, version: 1.0.0}
"""

SAMPLES = {name: text for name, text in vars().items() if name.isupper() and isinstance(text, str)}
