"""A model and a dataset as files, for the verbs that are tried on them: the fake predictor and some pictures."""

MODEL = """\
name: toy
version: 1.0.0
task: classification
framework: {name: fake}
inputs:
  - type: image
    processing: {decode: {color_layout: RGB}, resize: {dimensions: [8, 8]}, mean: 127.5, rescale: 127.5, layout: NCHW}
outputs: [{type: logits, processing: {softmax: null}}]
source: {graph_path: graph.json}
"""
DATASET = """\
name: pictures
version: 1.0.0
task: classification
format: folder
sources: [{url: pictures}]
"""
