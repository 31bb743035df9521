"""The catalog's models for faces, text and drawings answer sensibly on real pictures, with files of the real index."""

import io
import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from cli.command import run_command
from mlmodelscope import Settings
from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.artifact import ArtifactStore

PICTURES = "pypi:scikit-image==0.25.2/skimage/data/"
pytestmark = pytest.mark.slow(reason="models, pictures and stacks come from the package index")


def picture(name: str, place: Path, cache: Path) -> Path:
    try:
        return ArtifactStore(Settings(place / "home", cache)).fetch(PICTURES + name).path
    except ArtifactError as error:
        pytest.skip(f"the package index is out of reach: {error.message}")


def answer(model: str, path: Path, place: Path, cache: Path) -> Any:
    variables = {"MLMODELSCOPE_HOME": str(place / "home"), "MLMODELSCOPE_CACHE": str(cache), "PATH": "/usr/bin:/bin"}
    done = run_command("predict", model, path, "--json", cwd=place, environment=variables)
    told = json.loads(done.stdout)
    error = told.get("error", {}) if isinstance(told, dict) else {}
    if error.get("kind") == "StackError" and error["message"].startswith("there is no Python"):
        pytest.skip(f"the model's stack cannot be built here: {error['message']}")
    assert done.returncode == 0, done.stdout + done.stderr
    (shown,) = json.loads(done.stdout)
    assert shown["error"] is None, shown
    return shown["value"]


@pytest.mark.parametrize("model", ["blazeface-short-range", "blazeface-short-range-points"])
def test_the_astronauts_face_is_found(model: str, tmp_path: Path, fetched: Path) -> None:
    (face,) = answer(model, picture("astronaut.png", tmp_path, fetched), tmp_path, fetched)
    assert face["score"] > 0.9 and face["label"] == "face"
    assert face["box"] == pytest.approx([177, 81, 272, 175], abs=2)
    if model.endswith("points"):
        left, top, right, bottom = face["box"]
        eyes = face["keypoints"][0:2], face["keypoints"][3:5]
        assert all(left < x < right and top < y < (top + bottom) / 2 for x, y in eyes)


def test_lines_of_text_are_found_on_a_page(tmp_path: Path, fetched: Path) -> None:
    from PIL import Image

    pytest.importorskip("cv2")
    path = picture("page.png", tmp_path, fetched)
    found = answer("ppocr-v4-text-map", path, tmp_path, fetched)
    levels = Image.open(io.BytesIO(b64decode(found["png"])))
    with Image.open(path) as page:
        assert levels.size == page.size
    share = sum(levels.crop((0, 0, levels.width, 140)).tobytes()) / (levels.width * 140)
    empty = sum(levels.crop((0, 145, levels.width, 160)).tobytes())
    assert 0.05 < share < 0.5 and empty == 0  # between the paragraph and the code there is nothing


def test_a_picture_becomes_four_times_as_large(tmp_path: Path, fetched: Path) -> None:
    from PIL import Image, ImageChops, ImageStat

    small = tmp_path / "small.png"
    with Image.open(picture("astronaut.png", tmp_path, fetched)) as whole:
        whole.convert("RGB").crop((150, 50, 300, 200)).resize((50, 50)).save(small)
    found = answer("realesr-animevideov3-x4", small, tmp_path, fetched)
    assert (found["height"], found["width"], found["form"]) == (200, 200, "png")
    made = Image.open(io.BytesIO(b64decode(found["content"])))
    with Image.open(small) as given:
        off = ImageStat.Stat(ImageChops.difference(made.resize((50, 50)), given)).mean
    assert max(off) < 12  # shrunk again, it is nearly what it was
