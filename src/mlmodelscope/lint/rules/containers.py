"""Container images that are not what their place says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlmodelscope.lint.finding import Edit, Finding
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.subject import Subject
from mlmodelscope.manifest.schema import Images, ModelManifest, SoftwareManifest

_KINDS = ("model", "software")
_GPU = re.compile(r"gpu|(?:cuda|cudnn|rocm)\d*")
_ARCHITECTURE = re.compile(
    r"(?<![a-z0-9])(amd64|x86[-_]64|x64|ppc64le|arm64(?:v8)?|aarch64|arm32v7|armv7l?|s390x|riscv64)(?![a-z0-9])"
)
_SAME_ARCHITECTURE = {
    "x86_64": "amd64",
    "x64": "amd64",
    "aarch64": "arm64",
    "arm64v8": "arm64",
    "arm32v7": "armv7",
    "armv7l": "armv7",
}

# Words in image names → the framework. One image may hold several: a PyTorch image has Caffe2 in it.
_FRAMEWORKS = {
    "tensorflow": "tensorflow",
    "tflite": "tensorflow",
    "tensorflowlite": "tensorflow",
    "keras": "tensorflow",
    "pytorch": "pytorch",
    "torch": "pytorch",
    "torchscript": "pytorch",
    "libtorch": "pytorch",
    "torchvision": "pytorch",
    "caffe": "caffe",
    "caffe2": "caffe2",
    "cntk": "cntk",
    "mxnet": "mxnet",
    "tensorrt": "tensorrt",
    "onnx": "onnxruntime",
    "onnxruntime": "onnxruntime",
    "openvino": "openvino",
    "paddle": "paddle",
    "paddlepaddle": "paddle",
    "jax": "jax",
    "chainer": "chainer",
    "theano": "theano",
    "mindspore": "mindspore",
    "darknet": "darknet",
}
_HOLDS = {"caffe2": {"pytorch"}, "keras": {"tensorflow"}}


@rule("M020", "swapped-images", "warning", _KINDS)
def swapped_images(subject: Subject) -> Iterator[Finding]:
    """The images for CPU and GPU are swapped.

    The image under `cpu` says that it is for a GPU, and the one under `gpu` that it is for a CPU; 637 of 731 published
    container blocks have that. An evaluator who asks for the GPU gets a container without CUDA and measures the
    processor without noticing, or the container does not start at all. `--fix` swaps them.

    Wrong:

        container:
          amd64:
            cpu: example/tensorflow:amd64-gpu
            gpu: example/tensorflow:amd64-cpu

    Right:

        container:
          amd64:
            cpu: example/tensorflow:amd64-cpu
            gpu: example/tensorflow:amd64-gpu
    """
    for architecture, images in _containers(subject).items():
        if _is_swapped(images):
            path = ("container", architecture)
            cpu, gpu = subject.locate((*path, "cpu"))[1], subject.locate((*path, "gpu"))[1]
            fix: tuple[Edit, ...] = ()
            if cpu and gpu:
                fix = (Edit(*cpu, subject.text[slice(*gpu)]), Edit(*gpu, subject.text[slice(*cpu)]))
            yield subject.finding(path, f"the images for cpu and gpu are swapped under `{architecture}`", fix=fix)


@rule("M021", "wrong-device-image", "warning", _KINDS)
def wrong_device_image(subject: Subject) -> Iterator[Finding]:
    """An image for one device stands under the other.

    The image's name says GPU under `cpu`, or CPU under `gpu`, and there is no second one to swap it with. A GPU image
    on a machine without one may refuse to start; a CPU image under `gpu` measures the wrong device.

    Wrong:

        container:
          ppc64le:
            cpu: example/tensorflow:ppc64le-gpu
            gpu: example/tensorflow:ppc64le-gpu

    Right:

        container:
          ppc64le:
            gpu: example/tensorflow:ppc64le-gpu
    """
    for architecture, images in _containers(subject).items():
        if architecture == "any" or _is_swapped(images):
            continue
        for device, image in _images(images):
            says = _device(image)
            if says is not None and says != device:
                path = ("container", architecture, device)
                yield subject.finding(path, f"`{image}` says {says}, but stands under `{device}`")


@rule("M022", "foreign-image", "warning", _KINDS)
def foreign_image(subject: Subject) -> Iterator[Finding]:
    """The image is another framework's.

    The image names a framework that is not the manifest's; 189 published manifests do, most copied from another one.
    The container starts, and then the model cannot be loaded.

    Wrong:

        framework: {name: mxnet, version: 1.4.0}
        container:
          amd64:
            cpu: example/caffe:amd64-cpu

    Right:

        framework: {name: mxnet, version: 1.4.0}
        container:
          amd64:
            cpu: example/mxnet:amd64-cpu
    """
    framework = _holder(subject).framework
    own = known_framework(framework.name) if framework else None
    if own is None:
        return
    for architecture, images in _containers(subject).items():
        seen: dict[str, list[str]] = {}
        for device, image in _images(images):
            named = {_FRAMEWORKS[word] for word in _words(image) if word in _FRAMEWORKS}
            if named and not named & ({own} | _HOLDS.get(own, set())):
                seen.setdefault(", ".join(sorted(named)), []).append(device)
        for named_text, devices in seen.items():
            path = ("container", architecture, devices[0])
            under = " and ".join(f"`{device}`" for device in devices)
            yield subject.finding(
                path,
                f"the image under {architecture} {under} is for {named_text}, the manifest for "
                f"{framework.name if framework else own}",
            )


@rule("M023", "foreign-architecture", "warning", _KINDS)
def foreign_architecture(subject: Subject) -> Iterator[Finding]:
    """The image is for another processor architecture.

    The image's tag names an architecture that is not the one it stands under. It will not start there, or only slowly
    under emulation, and then a latency means nothing.

    Wrong:

        container:
          ppc64le:
            cpu: example/tensorflow:amd64-cpu

    Right:

        container:
          ppc64le:
            cpu: example/tensorflow:ppc64le-cpu
    """
    for architecture, images in _containers(subject).items():
        own = _architecture(architecture)
        for device, image in _images(images):
            named = _architecture(image)
            if own and named and named != own:
                path = ("container", architecture, device)
                yield subject.finding(path, f"`{image}` is for {named}, but stands under `{architecture}`")


@rule("M024", "moving-image", "info", _KINDS)
def moving_image(subject: Subject) -> Iterator[Finding]:
    """An image without a digest can change.

    A tag can be moved to another image at any time, and `latest` is meant to: an evaluation a year later then runs
    other software under the same manifest. A digest names exactly one image for good. A warning where the tag is
    `latest` or missing, which is the same.

    Wrong:

        container:
          amd64:
            cpu: example/tensorflow:latest

    Right:

        container:
          amd64:
            cpu: example/tensorflow@sha256:6c3c624b58dbbcd3c0dd82b4c53f04194d1247c6eebdaab7c610cf7d66709b3b
    """
    for architecture, images in _containers(subject).items():
        for device, image in _images(images):
            if "@sha256:" in image or (architecture == "any" and device == "gpu" and images.cpu == image):
                continue
            tag = image.rpartition("/")[2].partition(":")[2]
            moves = tag in ("", "latest")
            path = ("container", architecture, device)
            message = f"`{image}` follows `latest`" if moves else f"`{image}` has a tag but no digest"
            yield subject.finding(path, message, severity="warning" if moves else None)


def _holder(subject: Subject) -> ModelManifest | SoftwareManifest:
    assert isinstance(subject.manifest, (ModelManifest, SoftwareManifest))
    return subject.manifest


def _containers(subject: Subject) -> dict[str, Images]:
    return _holder(subject).container


def _images(images: Images) -> list[tuple[str, str]]:
    return [(device, image) for device, image in (("cpu", images.cpu), ("gpu", images.gpu)) if image]


def _is_swapped(images: Images) -> bool:
    return _device(images.cpu or "") == "gpu" and _device(images.gpu or "") == "cpu"


def _device(image: str) -> str | None:
    """What an image's name says it is for; None where it says nothing, or both."""
    words = _words(image)
    cpu, gpu = "cpu" in words, any(_GPU.fullmatch(word) for word in words)
    return None if cpu == gpu else "cpu" if cpu else "gpu"


def _words(image: str) -> list[str]:
    return re.split(r"[^a-z0-9]+", image.lower().partition("@")[0])


def known_framework(name: str) -> str | None:
    """One word for a framework, however it is written; None for one that we do not know."""
    return _FRAMEWORKS.get(re.sub(r"[^a-z0-9]", "", name.lower()))


def _architecture(text: str) -> str | None:
    match = _ARCHITECTURE.search(text.lower().partition("@")[0])
    word = match[1].replace("-", "_") if match else None
    return _SAME_ARCHITECTURE.get(word, word) if word else None
