/** What a new manifest begins with. */
export const KINDS = ["model", "dataset", "software", "hardware"] as const;
export type Kind = (typeof KINDS)[number];

export const kindOf = (word: string | null | undefined): Kind => KINDS.find((each) => each === word) ?? "model";

export const SKELETONS: Record<Kind, string> = {
  model: `name: my-model
version: 1.0.0
task: classification
description: What it does, in a sentence.
framework: {name: onnxruntime, version: ^1.10}
inputs:
  - type: image
    processing: # in this order
      decode: {color_layout: RGB}
      resize: {dimensions: [3, 224, 224], method: bilinear}
      mean: [123.675, 116.28, 103.53]
      rescale: [58.395, 57.12, 57.375]
      layout: NCHW
outputs:
  - type: logits
    processing:
      softmax:
source:
  graph_path: https://example.org/model.onnx
  graph_checksum: sha256:0000000000000000000000000000000000000000000000000000000000000000
`,
  dataset: `name: my-dataset
version: 1.0.0
task: classification
description: What is in it, in a sentence.
format: folder
sources:
  - url: https://example.org/pictures.zip
`,
  software: `name: my-stack
version: 1.0.0
description: What it is for, in a sentence.
framework: {name: onnxruntime, version: 1.17.3}
`,
  hardware: `name: my-machine
version: 1.0.0
description: What is asked of a machine.
cpu: {arch: x86_64, cores: ">=4"}
`,
};
