"""Made-up data in the layouts of the datasets that ship: each manifest with small numbers, and files that fit it."""

import json
import struct
from pathlib import Path
from typing import Any

import yaml

from mlmodelscope.manifest.folders import shipped_folder

PNG, JPEG, FLAC, WAV = b"\x89PNG\r\n", b"\xff\xd8\xff\xe0", b"fLaC", b"RIFF\x00\x00\x00\x00WAVE"
Files = dict[str, bytes]
LAYOUT = {"count", "numbers", "folders", "in_each", "size_bytes", "checksum", "tar_bytes"}


def shipped(name: str) -> dict[str, Any]:
    folder = shipped_folder()
    assert folder is not None
    found: dict[str, Any] = yaml.safe_load((folder / "datasets" / f"{name}.yml").read_text())
    return found


def shrunk(name: str, size: int, **rule: Any) -> dict[str, Any]:
    """The shipped manifest, whose rules have these numbers and no others."""
    found = shipped(name)
    found["size"] = size
    for layout in found["connect"]["layouts"]:
        for each in layout["files"]:
            for key in LAYOUT & each.keys():
                if key in rule:
                    each[key] = rule[key]
                else:
                    del each[key]
    return found


def write_manifest(place: Path, data: dict[str, Any]) -> Path:
    """Into a folder for MLMODELSCOPE_MANIFESTS, with the lists of classes that it names."""
    folder = place / "datasets"
    folder.mkdir(parents=True, exist_ok=True)
    source = shipped_folder()
    assert source is not None
    if "classes_url" in data and not Path(data["classes_url"]).is_absolute():
        data = {**data, "classes_url": str(source / "datasets" / data["classes_url"])}
    path = folder / f"{data['name']}.yml"
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    return path


def write_files(folder: Path, files: Files) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def pictures(*names: str, start: bytes = JPEG) -> Files:
    """Every one is different."""
    return {name: start + name.encode() for name in names}


def imagenet_folders() -> Files:
    names = [f"ILSVRC2012_val_{number:08d}.JPEG" for number in (1, 2, 3, 4)]
    places = ["n01443537", "n01440764", "n01440764", "n01443537"]
    return pictures(*(f"{place}/{name}" for place, name in zip(places, names, strict=True)))


def imagenet_flat() -> Files:
    return pictures(*(f"ILSVRC2012_val_{number:08d}.JPEG" for number in (1, 2, 3, 4)))


def coco(folder: str = "val2017", file: str = "instances_val2017.json") -> Files:
    names = ["000000000139.jpg", "000000000285.jpg"]
    images = [{"id": number, "file_name": name, "height": 4, "width": 4} for number, name in enumerate(names)]
    thing = {"id": 1, "image_id": 0, "category_id": 1, "bbox": [0, 0, 2, 2], "area": 4, "iscrowd": 0}
    if "keypoints" in file:
        thing |= {"keypoints": [1, 1, 2], "num_keypoints": 1}
    person = {"id": 1, "name": "person"} | ({"keypoints": ["nose"], "skeleton": []} if "keypoints" in file else {})
    data = {"images": images, "annotations": [thing], "categories": [person]}
    return {f"annotations/{file}": json.dumps(data).encode(), **pictures(*(f"{folder}/{name}" for name in names))}


def voc(listed: str, labels: str) -> Files:
    """Three pictures, of which the list has two."""
    xml = (
        b"<annotation><size><width>4</width><height>4</height></size><object><name>cat</name><bndbox><xmin>1</xmin>"
        b"<ymin>1</ymin><xmax>3</xmax><ymax>3</ymax></bndbox></object></annotation>"
    )
    found = {listed: b"000001\n000004 -1\n", **pictures(*(f"JPEGImages/{n:06d}.jpg" for n in (1, 2, 4)))}
    for number in (1, 2, 4):
        name = labels.replace("{name}", f"{number:06d}")
        found[name] = xml if name.endswith(".xml") else PNG + name.encode()
    return found


def idx(*sizes: int) -> bytes:
    length = 1
    for size in sizes:
        length *= size
    return bytes((0, 0, 8, len(sizes))) + struct.pack(f">{len(sizes)}I", *sizes) + bytes(length)


def librispeech() -> Files:
    return {
        "61/70968/61-70968-0000.flac": FLAC + b"a",
        "61/70968/61-70968-0001.flac": FLAC + b"b",
        "61/70968/61-70968.trans.txt": b"61-70968-0000 HE BEGAN\n61-70968-0001 GIVE NOT SO\n",
    }


def speech_commands() -> Files:
    return {
        "testing_list.txt": b"right/a.wav\nleft/b.wav\n",
        "validation_list.txt": b"left/c.wav\n",
        "right/a.wav": WAV + b"a",
        "left/b.wav": WAV + b"b",
        "left/c.wav": WAV + b"c",
    }


def squad(name: str) -> Files:
    question = {"id": "q", "question": "Who?", "answers": [{"text": "Ann", "answer_start": 0}]}
    data = {"version": "1.1", "data": [{"paragraphs": [{"context": "Ann ran.", "qas": [question]}]}]}
    return {name: json.dumps(data).encode()}


def tsv(*lines: str) -> bytes:
    return ("\n".join(lines) + "\n").encode()


PAIR = ("index\tsentence1\tsentence2\tlabel", '0\tA "b" c\td\t{}')
MNLI = ("index\tsentence1\tsentence2\tlabel1\tgold_label", "0\ta\tb\tneutral\tneutral")
SMALL: dict[str, tuple[int, dict[str, Any], Files]] = {
    "imagenet-val": (4, {"numbers": [1, 4], "folders": 2, "in_each": 2}, imagenet_folders()),
    "imagenet-real": (
        3,
        {"numbers": [1, 4], "folders": 2, "in_each": 2},
        {f"val/{name}": content for name, content in imagenet_folders().items()}
        | {"real.json": b"[[1], [], [0, 1], [5]]"},
    ),
    "imagenet-v2": (2, {"count": 2, "folders": 2, "in_each": 1}, pictures("0/a.jpeg", "999/b.jpeg")),
    "imagenet-a": (2, {"count": 2, "folders": 2}, pictures("n01498041/a.jpg", "n01531178/b.jpg")),
    "imagenet-r": (2, {"count": 2, "folders": 2}, pictures("n01443537/a.jpg", "n01484850/b.jpg", start=PNG)),
    "imagenet-sketch": (2, {"count": 2, "folders": 2}, pictures("n01440764/a.JPEG", "n01443537/b.JPEG")),
    "coco-val2017": (2, {"count": 2}, coco()),
    "coco-keypoints-val2017": (2, {"count": 2}, coco(file="person_keypoints_val2017.json")),
    "voc-2007-test": (2, {"count": 2}, voc("ImageSets/Main/test.txt", "Annotations/{name}.xml")),
    "voc-2012-detection-val": (2, {"count": 2}, voc("ImageSets/Main/val.txt", "Annotations/{name}.xml")),
    "voc-2012-val": (2, {"count": 2}, voc("ImageSets/Segmentation/val.txt", "SegmentationClass/{name}.png")),
    "ade20k-val": (
        2,
        {"numbers": [1, 2]},
        pictures(*(f"images/validation/ADE_val_{n:08d}.jpg" for n in (1, 2)))
        | pictures(*(f"annotations/validation/ADE_val_{n:08d}.png" for n in (1, 2)), start=PNG),
    ),
    "cityscapes-val": (
        2,
        {"count": 2, "folders": 2, "in_each": {"lindau": 1, "munster": 1}},
        pictures(
            *(f"leftImg8bit/val/{city}/{city}_0_leftImg8bit.png" for city in ("lindau", "munster")),
            *(f"gtFine/val/{city}/{city}_0_gtFine_labelIds.png" for city in ("lindau", "munster")),
            start=PNG,
        ),
    ),
    "cifar100-test": (2, {}, {"test.bin": (bytes((1, 99)) + bytes(3072)) + (bytes((0, 3)) + bytes(3071) + b"x")}),
    "fashion-mnist-test": (
        2,
        {},
        {"t10k-images-idx3-ubyte": idx(2, 28, 28), "t10k-labels-idx1-ubyte": idx(2)},
    ),
    "kmnist-test": (2, {}, {"t10k-images-idx3-ubyte": idx(2, 28, 28), "t10k-labels-idx1-ubyte": idx(2)}),
    **{f"librispeech-{part}": (2, {"count": 2}, librispeech()) for part in ("dev-clean", "dev-other")},
    **{f"librispeech-{part}": (2, {"count": 2}, librispeech()) for part in ("test-clean", "test-other")},
    "speech-commands-test": (2, {"count": 2, "folders": 2}, speech_commands()),
    "squad-1.1-dev": (1, {}, squad("dev-v1.1.json")),
    "squad-2.0-dev": (1, {}, squad("dev-v2.0.json")),
    "glue-sst2-dev": (2, {}, {"dev.tsv": tsv("sentence\tlabel", "a 'fine\" film\t1", "bad\t0")}),
    "glue-cola-dev": (1, {}, {"dev.tsv": tsv("gj04\t1\t\tThey ran.")}),
    "glue-rte-dev": (1, {}, {"dev.tsv": tsv(PAIR[0], PAIR[1].format("not_entailment"))}),
    "glue-qnli-dev": (1, {}, {"dev.tsv": tsv("index\tquestion\tsentence\tlabel", "0\tWho?\tAnn.\tentailment")}),
    "glue-wnli-dev": (1, {}, {"dev.tsv": tsv(PAIR[0], PAIR[1].format("1"))}),
    "glue-stsb-dev": (1, {}, {"dev.tsv": tsv("index\tsentence1\tsentence2\tscore", "0\ta\tb\t4.750")}),
    "glue-mnli-matched-dev": (1, {}, {"dev_matched.tsv": tsv(*MNLI)}),
    "glue-mnli-mismatched-dev": (1, {}, {"dev_mismatched.tsv": tsv(*MNLI)}),
    "glue-mrpc-dev": (1, {}, {"dev.tsv": tsv("Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", "1\t5\t6\ta\tb")}),
    "glue-qqp-dev": (
        1,
        {},
        {"dev.tsv": tsv("id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate", "1\t2\t3\ta?\tb?\t0")},
    ),
    "conll-2003-test": (1, {}, {"eng.testb": b"-DOCSTART- -X- O O\n\nAnn NNP I-NP B-PER\nran VBD I-VP O\n"}),
    "wikitext-2-test": (1, {}, {"wiki.test.tokens": b" = Ann = \n \n Ann ran . \n"}),
}
"""By name: how many samples, the numbers of the rules, and files that fit them."""
