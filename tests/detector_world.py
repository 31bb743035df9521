"""A detector without a framework and pictures with things in them: files as people write them."""

import json
from pathlib import Path

MODEL = """\
name: finder
version: 1.0.0
task: object_detection
framework: {{name: fake}}
inputs:
  - type: image
    processing:
      decode: {{color_layout: RGB}}
      resize: {{dimensions: [8, 8]}}
      mean: 127.5
      rescale: 127.5
      layout: NCHW
outputs:
  - {{type: boxes, layer_name: boxes}}
  - {{type: scores, layer_name: scores}}
  - {{type: classes, layer_name: classes}}
source: {{graph_path: {graph}}}
"""
DATASET = """\
name: things
version: 1.0.0
task: object_detection
format: coco
sources: [{{url: {pictures}, labels_url: {labels}}}]
"""
WIDTH, HEIGHT = 64, 48


def write_detector(folder: Path, pictures: int = 12) -> tuple[Path, Path]:
    """(the model's manifest, the dataset's). In each picture a cat is in the upper left quarter; in every third there
    is a dog, too, where the detector never looks."""
    from PIL import Image

    graph = folder / "finder.json"
    graph.write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 2, "boxes": 4}))
    place = folder / "things"
    place.mkdir(parents=True, exist_ok=True)
    images, found = [], []
    for number in range(pictures):
        name = f"{number:04d}.png"
        color = (number * 37 % 256, number * 59 % 256, number * 83 % 256)
        Image.new("RGB", (WIDTH, HEIGHT), color).save(place / name)
        images.append({"id": number, "file_name": name, "width": WIDTH, "height": HEIGHT})
        boxes = [(1, [0, 0, WIDTH / 2, HEIGHT / 2])] + ([(2, [40, 2, 20, 10])] if number % 3 == 0 else [])
        found += [
            {"id": len(found) + at, "image_id": number, "category_id": kind, "bbox": box, "area": box[2] * box[3]}
            for at, (kind, box) in enumerate(boxes)
        ]
    labels = folder / "things-labels.json"
    names = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
    labels.write_text(json.dumps({"images": images, "annotations": found, "categories": names}))
    model, dataset = folder / "finder.yml", folder / "things.yml"
    model.write_text(MODEL.format(graph=graph))
    dataset.write_text(DATASET.format(pictures=place, labels=labels))
    return model, dataset
