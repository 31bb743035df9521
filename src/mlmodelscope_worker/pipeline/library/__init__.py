"""Libraries of steps, one file each, imported when a step names them."""

import importlib

# Which DCT methods each decoder offers: the host must know without importing the library.
DCT_METHODS = {
    "pillow": ("accurate",),
    "opencv": ("accurate",),
    "simplejpeg": ("accurate", "fast"),
    "turbojpeg": ("accurate", "fast"),
    "tensorflow": ("accurate", "fast"),
    "torchvision": ("accurate",),
}

# Resize methods of each library.
RESIZE_METHODS = {
    "pillow": ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"),
    "opencv": ("nearest", "nearest_exact", "bilinear", "bilinear_exact", "bicubic", "area", "lanczos4"),
    "tensorflow": (
        "nearest",
        "bilinear",
        "bicubic",
        "area",
        "lanczos3",
        "lanczos5",
        "gaussian",
        "mitchellcubic",
    ),
    "torchvision": ("nearest", "nearest_exact", "bilinear", "bicubic"),
    # Not a library but plain arithmetic, for where a pixel lies: by ONNX's names for it.
    "numpy": ("nearest_asymmetric", "bilinear_asymmetric", "bilinear_align_corners", "bilinear_half_pixel"),
}


# What `scale` takes beside those: arithmetic that a paper's numbers depend on, and nobody resizes to a size with.
SCALE_METHODS = dict(RESIZE_METHODS, matlab=("bilinear", "bicubic"))


def antialias_choices(name, method):
    """Whether a library can antialias (True), go without (False) or either; what it does by itself comes first."""
    if "nearest" in method or method == "area" or name in ("opencv", "numpy"):
        return (False,)
    return {"pillow": (True,), "tensorflow": (False, True), "torchvision": (True, False), "matlab": (True, False)}[name]


# What cuts texts into tokens: libraries, and the same in plain Python for stacks that have none.
TOKENIZERS = ("tokenizers", "sentencepiece", "tiktoken", "wordpiece", "bpe")

# What makes texts of tokens.
DETOKENIZERS = (*TOKENIZERS, "pieces")

# What reads sound files: our own parser of WAVE files, and libraries for others.
AUDIO_DECODERS = ("wave", "soundfile", "ffmpeg")

# What changes the rate of a sound, with its filters; the first is what each does by itself.
RESAMPLERS = {
    "soxr": ("HQ", "VHQ", "MQ", "LQ", "QQ"),
    "scipy": ("polyphase", "fft"),
    "librosa": ("soxr_hq", "soxr_vhq", "soxr_mq", "soxr_lq", "kaiser_best", "kaiser_fast", "polyphase", "fft"),
    "torchaudio": ("sinc_interp_hann", "sinc_interp_kaiser"),
    "numpy": ("linear",),
}

# The distributions that bring each library, for `doctor`, plans and error messages; any one will do.
PACKAGES = {
    "pillow": ("pillow", "pillow-simd"),
    "opencv": (
        "opencv-python-headless",
        "opencv-python",
        "opencv-contrib-python-headless",
        "opencv-contrib-python",
        "opencv",  # as Debian calls its package
    ),
    "simplejpeg": ("simplejpeg",),
    "turbojpeg": ("PyTurboJPEG",),
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly"),
    "torchvision": ("torchvision",),
    "numpy": ("numpy",),
    "matlab": ("numpy",),
    "tokenizers": ("tokenizers",),
    "sentencepiece": ("sentencepiece",),
    "tiktoken": ("tiktoken",),
    "wordpiece": ("numpy",),
    "bpe": ("numpy",),
    "pieces": ("numpy",),
    "wave": ("numpy",),
    "soundfile": ("soundfile",),
    "ffmpeg": ("imageio-ffmpeg",),  # or the program on the path, which has no version that a plan could pin
    "soxr": ("soxr",),
    "scipy": ("scipy",),
    "librosa": ("librosa",),
    "torchaudio": ("torchaudio",),
    "jinja2": ("jinja2",),
}
_WANTED = {"turbojpeg": "'PyTurboJPEG<2'"}  # newer ones need libjpeg-turbo 3, which few systems have


class MissingLibrary(Exception):
    """The stack has no such library."""


def load(name):
    """The module that wraps a library; the library itself is imported now and only now."""
    try:
        return importlib.import_module(__name__ + "." + name)
    except ImportError as error:
        wanted = _WANTED.get(name, PACKAGES[name][0])
        # What is installed and cannot be loaded lacks something that pip does not have.
        advice = "; install it with: pip install %s" % wanted if isinstance(error, ModuleNotFoundError) else ""
        raise MissingLibrary("this stack cannot use %s (%s)%s" % (name, error, advice))
