"""Pictures of samples: of datasets that are at hand, made anew, and of nothing else on this machine."""

from __future__ import annotations

import shutil
import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from mlmodelscope.confine.confined import Confined
from mlmodelscope.record.record import Record
from mlmodelscope.settings import Settings

from .conftest import World

SAMPLE = "class1/0001.png"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, str]]:
    """A server, and a record of pictures of which one is large, one is none and one pretends to be huge."""
    from PIL import Image

    world = World(tmp_path_factory.mktemp("world"))
    folder = world.place / "manifests" / "pictures" / "class0"
    Image.effect_noise((900, 600), 60).convert("RGB").save(folder / "large.jpg")
    (folder / "page.png").write_text("<html><script>alert(1)</script>")
    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", len(head)) + b"IHDR" + head + struct.pack(">I", zlib.crc32(b"IHDR" + head))
    (folder / "bomb.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk)
    try:
        world.host(executor="none")
        yield world, world.evaluate(timed_runs=1, warm_up_runs=1).id
        assert "Traceback" not in world.log("server")
    finally:
        world.close()


def get(world: World, path: str, token: str | None = None, **query: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return world.http.get(f"/{path}", params=query, headers=headers)


def copied(world: World, name: str) -> tuple[Path, str]:
    """The same pictures under another name, which may be broken, and a record of them."""
    folder = world.place / "manifests"
    shutil.copytree(folder / "pictures", folder / name)
    (folder / f"{name}.yml").write_text((folder / "pictures.yml").read_text().replace("pictures", name))
    return folder / name, world.evaluate("toy", name, timed_runs=1, warm_up_runs=1).id


def test_a_sample_is_shown_small_and_made_anew(shown: tuple[World, str]) -> None:
    from PIL import Image

    world, record = shown
    found = get(world, f"records/{record}/picture", sample=SAMPLE)
    assert found.status_code == 200 and found.headers["content-type"] == "image/png"
    assert found.headers["x-content-type-options"] == "nosniff" and "private" in found.headers["cache-control"]
    assert Image.open(BytesIO(found.content)).size == (11, 10)
    small = get(world, f"records/{record}/picture", sample="class0/large.jpg", side=64)
    assert small.headers["content-type"] == "image/jpeg" and Image.open(BytesIO(small.content)).size == (64, 43)
    assert get(world, f"records/{record}/picture", sample="class0/large.jpg", side=9999).status_code == 422


def test_a_name_is_looked_up_and_never_a_path(shown: tuple[World, str]) -> None:
    world, record = shown
    for path in (f"records/{record}/picture", "datasets/pictures/picture", "datasets/pictures/content"):
        for name in ("../toy.json", "/etc/passwd", "class1/../../toy.yml", "class1/none.png", "..", "a" * 999):
            found = get(world, path, sample=name)
            assert found.status_code == 404 and found.json()["title"] == "NoPicture", found.text


def test_what_is_no_picture_or_too_large_a_one_is_not_unpacked(shown: tuple[World, str]) -> None:
    world, _ = shown
    for name, reason in (("page.png", "it is none of JPEG"), ("bomb.png", "60000 x 60000 pixels are more")):
        found = get(world, "datasets/pictures/picture", sample=f"class0/{name}")
        assert found.status_code == 404 and reason in found.json()["detail"], found.text


def test_a_dataset_offers_samples_to_try_a_model_with(shown: tuple[World, str]) -> None:
    world, _ = shown
    page = get(world, "datasets/pictures/samples", start=23, limit=2).json()
    assert page["total"] == 63 and page["items"][0] == {"id": "class1/0001.png", "label": 1, "label_name": "class1"}
    found = get(world, "datasets/pictures/content", sample=SAMPLE)
    assert found.content == (world.place / "manifests" / "pictures" / SAMPLE).read_bytes()
    assert found.headers["content-disposition"] == "attachment"
    assert get(world, "datasets/none/samples").status_code == 404


def test_the_file_itself_is_for_who_may_run(shown: tuple[World, str]) -> None:
    world, _ = shown
    reader = world.token("read")
    assert get(world, "datasets/pictures/picture", reader, sample=SAMPLE).status_code == 200
    assert get(world, "datasets/pictures/content", reader, sample=SAMPLE).status_code == 403
    assert get(world, "predictions/limits", reader).json()["largest_input"] == 16 << 20


def test_somebody_elses_record_does_not_say_what_is_looked_at_here(shown: tuple[World, str]) -> None:
    from mlmodelscope.server.gallery import NoPictures
    from mlmodelscope.server.handle.samples import _refuse_local

    world, record = shown
    plan = Record.model_validate(get(world, f"records/{record}").json()).plan
    with pytest.raises(NoPictures, match="on the machine of who made it"):
        _refuse_local(plan.dataset)


def test_a_file_that_has_changed_since_is_not_shown(shown: tuple[World, str]) -> None:
    world, _ = shown
    folder, record = copied(world, "changing")
    assert get(world, f"records/{record}/picture", sample=SAMPLE).status_code == 200
    (folder / SAMPLE).write_bytes(b"<svg onload='alert(1)'/>")
    found = get(world, f"records/{record}/picture", sample=SAMPLE)
    assert found.status_code == 404 and "has changed" in found.json()["detail"]


def test_a_dataset_that_is_gone_has_no_pictures_and_says_so(shown: tuple[World, str]) -> None:
    from mlmodelscope.server.gallery import Gallery, NoPictures

    world, _ = shown
    folder, record = copied(world, "leaving")
    plan = Record.model_validate(get(world, f"records/{record}").json()).plan
    assert get(world, f"records/{record}/picture", sample=SAMPLE).status_code == 200  # it is open from now on
    folder.rename(folder.with_name("elsewhere"))
    found = get(world, f"records/{record}/picture", sample="class2/0002.png")
    assert found.status_code == 404 and found.json()["detail"].startswith("there is no picture of `class2/0002.png`")
    with Confined() as confined:
        fresh = Gallery(Settings(world.place, world.place / "cache"), confined)
        for _ in range(2):  # the second time it is only remembered
            with pytest.raises(NoPictures, match="there is no copy of leaving available"):
                fresh.opened(plan.dataset)


def test_a_dataset_that_is_not_connected_has_no_pictures(shown: tuple[World, str]) -> None:
    world, _ = shown
    found = get(world, "datasets/imagenet-val/samples")
    assert found.status_code == 404 and "is known, and not connected" in found.text


def test_classes_are_searched_and_counted(shown: tuple[World, str]) -> None:
    world, _ = shown
    found = get(world, "datasets/pictures/classes").json()
    assert [each["name"] for each in found["items"]] == ["class0", "class1", "class2"]
    assert found["items"][0]["samples"] == 23 and found["total"] == found["all"] == 3
    found = get(world, "datasets/pictures/classes", q="CLASS 2").json()
    assert [each["number"] for each in found["items"]] == [2] and (found["total"], found["all"]) == (1, 3)
    assert get(world, "datasets/pictures/classes", start=2, limit=5).json()["items"][0]["name"] == "class2"
    assert get(world, "datasets/none/classes").status_code == 404


def test_classes_are_known_where_only_their_list_is_here(shown: tuple[World, str]) -> None:
    world, _ = shown
    found = get(world, "datasets/cityscapes-val/classes").json()
    assert "road" in {each["name"] for each in found["items"]}
    assert all(each["samples"] is None for each in found["items"])


def test_a_picture_has_no_text_and_no_sound(shown: tuple[World, str]) -> None:
    world, _ = shown
    found = get(world, "datasets/pictures/input", sample=SAMPLE).json()
    assert (found["kind"], found["texts"], found["cells"], found["sound"]) == ("image", [], [], None)
    assert get(world, "datasets/pictures/sound", sample=SAMPLE).status_code == 404
    assert get(world, "datasets/pictures/input", sample="../toy.json").status_code == 404
