"""Each library's own way to resize, compared with calling the library directly."""

import io

import numpy as np
import pytest
from PIL import Image as PIL

from mlmodelscope_worker.pipeline import library as libraries
from mlmodelscope_worker.pipeline.header import ImageError
from mlmodelscope_worker.pipeline.image import Image
from mlmodelscope_worker.pipeline.library import (
    DCT_METHODS,
    PACKAGES,
    RESIZE_METHODS,
    SCALE_METHODS,
    MissingLibrary,
    antialias_choices,
)
from worker_package.conftest import INSTALLED
from worker_package.pictures import encode, jpeg, run, scene

SMALLER, LARGER = (20, 24), (90, 100)
PAIRS = [(library, method) for library in RESIZE_METHODS for method in RESIZE_METHODS[library] if library in INSTALLED]


def resize(pixels: np.ndarray, sides: tuple[int, int], library: str, method: str, **more: object) -> np.ndarray:
    parameters = {"dimensions": list(sides), "library": library, "method": method, **more}
    return np.asarray(run("resize", Image(pixels), parameters).array)


def direct(pixels: np.ndarray, sides: tuple[int, int], library: str, method: str) -> np.ndarray:
    """What a user of the library would have written."""
    height, width = sides
    if library == "pillow":
        return np.asarray(PIL.fromarray(pixels).resize((width, height), PIL.Resampling[method.upper()]))
    if library == "opencv":
        import cv2

        names = {"bilinear": "LINEAR", "bilinear_exact": "LINEAR_EXACT", "bicubic": "CUBIC"}
        return cv2.resize(
            pixels, (width, height), interpolation=getattr(cv2, f"INTER_{names.get(method, method.upper())}")
        )
    if library == "tensorflow":
        import tensorflow as tf

        return np.clip(np.rint(tf.image.resize(pixels, (height, width), method=method).numpy()), 0, 255).astype(
            np.uint8
        )
    import torch
    from torchvision.transforms import InterpolationMode, functional

    planes = torch.from_numpy(pixels.transpose(2, 0, 1).copy())
    mode = InterpolationMode[method.upper()]
    return (
        functional.resize(planes, [height, width], mode, antialias="nearest" not in method).numpy().transpose(1, 2, 0)
    )


@pytest.mark.parametrize(("library", "method"), PAIRS)
@pytest.mark.parametrize("sides", [SMALLER, LARGER], ids=["smaller", "larger"])
def test_resize_is_what_the_library_itself_answers(library: str, method: str, sides: tuple[int, int]) -> None:
    assert np.array_equal(resize(scene(), sides, library, method), direct(scene(), sides, library, method))


@pytest.mark.parametrize(("library", "method"), PAIRS)
def test_resize_takes_grey_and_fractions(library: str, method: str) -> None:
    gray = resize(scene()[:, :, :1], SMALLER, library, method)
    assert gray.shape == (*SMALLER, 1) and gray.dtype == np.uint8
    fractions = resize(scene().astype(np.float32) / 255, SMALLER, library, method)
    assert fractions.shape == (*SMALLER, 3) and fractions.dtype == np.float32
    assert abs(fractions * 255 - resize(scene(), SMALLER, library, method)).max() < 3


@pytest.mark.parametrize(("library", "method"), PAIRS)
def test_what_was_resized_can_be_calculated_with(library: str, method: str) -> None:
    resized = run("resize", Image(scene()), {"dimensions": [20, 24], "library": library, "method": method})
    before = np.array(resized.array)
    dimmed = run("mean", resized, {"values": 3, "element_type": "uint8"})
    assert np.array_equal(dimmed.array, before - np.uint8(3))


@pytest.mark.parametrize(("library", "method"), PAIRS)
def test_methods_of_one_library_differ_from_its_bilinear(library: str, method: str) -> None:
    if method not in ("bilinear", "bilinear_exact"):
        assert not np.array_equal(
            resize(scene(), SMALLER, library, method), resize(scene(), SMALLER, library, "bilinear")
        )


def test_pillow_averages_and_opencv_does_not() -> None:
    """The papers' favourite pitfall: one word, `bilinear`, and two different pictures."""
    stripes = np.zeros((64, 64, 3), np.uint8)
    stripes[::4] = 255
    pillow, opencv = (resize(stripes, (16, 16), name, "bilinear")[2:-2] for name in ("pillow", "opencv"))
    assert pillow.min() > 30 and opencv.max() == 0


def test_pillow_keeps_its_own_picture_between_its_own_steps() -> None:
    image = run("decode", jpeg())
    assert image.native is not None
    smaller = run("resize", run("crop", image, {"percentage": 80}), {"dimensions": [20, 24]})
    assert smaller.native is not None and smaller.size == (20, 24)
    kept = Image(np.asarray(run("crop", run("decode", jpeg()), {"percentage": 80}).array))
    assert np.array_equal(smaller.array, run("resize", kept, {"dimensions": [20, 24]}).array)


def test_opencv_names_the_type_that_it_cannot_resize() -> None:
    with pytest.raises(ImageError, match="OpenCV cannot resize int64 values by `bilinear`"):
        resize(scene().astype(np.int64), SMALLER, "opencv", "bilinear")


def test_an_old_opencv_without_a_method_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    module = libraries.load("opencv")
    monkeypatch.delattr(module.cv2, "INTER_NEAREST_EXACT")
    with pytest.raises(ImageError, match=r"OpenCV \S+ cannot resize by `nearest_exact`"):
        resize(scene(), SMALLER, "opencv", "nearest_exact")


def test_a_thumbnail_is_a_small_jpeg() -> None:
    small = PIL.open(io.BytesIO(libraries.load("pillow").jpeg_thumbnail(encode(scene(200, 400), "PNG"), 100)))
    assert (small.format, small.size) == ("JPEG", (100, 50))


# Where a pixel lies: no library of today does all of these, so that they are told from what they must do.


def test_half_pixels_are_where_opencv_has_them() -> None:
    cv2 = pytest.importorskip("cv2")
    pixels = scene(40, 30)
    ours = resize(pixels, LARGER, "numpy", "bilinear_half_pixel")
    theirs = cv2.resize(pixels, LARGER[::-1], interpolation=cv2.INTER_LINEAR)
    assert np.abs(ours.astype(int) - theirs).max() <= 1


@pytest.mark.parametrize("sides", [SMALLER, LARGER], ids=["smaller", "larger"])
def test_aligned_corners_stay_where_they_are(sides: tuple[int, int]) -> None:
    pixels = scene(40, 30)
    ours = resize(pixels, sides, "numpy", "bilinear_align_corners")
    for row in (0, -1):
        for column in (0, -1):
            assert (ours[row, column] == pixels[row, column]).all()


@pytest.mark.parametrize("method", ["bilinear_asymmetric", "nearest_asymmetric"])
def test_a_corners_place_is_kept_when_an_image_grows_by_a_whole_number(method: str) -> None:
    pixels = scene(20, 30)
    assert (resize(pixels, (60, 90), "numpy", method)[::3, ::3] == pixels).all()
    assert (resize(pixels, (10, 15), "numpy", method) == pixels[::2, ::2]).all()


@pytest.mark.parametrize("method", RESIZE_METHODS["numpy"])
def test_values_beyond_bytes_keep_their_type(method: str) -> None:
    ramp = np.linspace(-1, 1, 8 * 8 * 3, dtype=np.float32).reshape(8, 8, 3)
    ours = resize(ramp, (16, 16), "numpy", method)
    assert ours.dtype == np.float32 and ours.min() >= -1 and ours.max() <= 1


# What the host knows of libraries without importing them.


def test_every_library_that_is_here_was_tried(any_library: str) -> None:
    module = libraries.load(any_library)
    assert callable(module.decode)
    assert callable(getattr(module, "resize", None)) == (any_library in RESIZE_METHODS)


def test_every_library_says_which_packages_bring_it() -> None:
    used = set(DCT_METHODS) | set(RESIZE_METHODS) | set(SCALE_METHODS) | set(libraries.DETOKENIZERS)
    used |= set(libraries.AUDIO_DECODERS) | set(libraries.RESAMPLERS) | {"jinja2"}  # which fills in prompts
    assert set(PACKAGES) == used


@pytest.mark.parametrize(
    ("library", "method"), [(name, method) for name in SCALE_METHODS for method in SCALE_METHODS[name]]
)
def test_what_a_library_does_by_itself_is_one_of_its_choices(library: str, method: str) -> None:
    choices = antialias_choices(library, method)
    assert set(choices) <= {True, False} and choices


def test_a_missing_library_names_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PACKAGES, "nothing", ("nothing-at-all",))
    with pytest.raises(MissingLibrary, match="this stack cannot use nothing .*pip install nothing-at-all"):
        libraries.load("nothing")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModuleNotFoundError("No module named 'turbojpeg'"), r"; install it with: pip install 'PyTurboJPEG<2'$"),
        (ImportError("libturbojpeg was not found"), r"\(libturbojpeg was not found\)$"),
    ],
)
def test_only_what_is_not_installed_is_to_be_installed(
    monkeypatch: pytest.MonkeyPatch, error: ImportError, told: str
) -> None:
    """Of PyTurboJPEG the release that works with the system's library."""

    def refuse(name: str) -> None:
        raise error

    monkeypatch.setattr("mlmodelscope_worker.pipeline.library.importlib.import_module", refuse)
    with pytest.raises(MissingLibrary, match=told):
        libraries.load("turbojpeg")
