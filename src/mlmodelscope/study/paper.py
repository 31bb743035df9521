"""What the papers say, as printed there: figures and tables whose numbers stand in the text. Facts, with their place.

Figures that are pictures only (bars and photographs without numbers in the text) are named where a study repeats them,
and nothing is read off them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    name: str
    title: str
    authors: str


FIRST = Paper(
    "first", "Frustrated with Replicating Claims of a Shared Model? A Solution", "Dakkak, Li, Xiong and Hwu, 2019"
)
SECOND = Paper(
    "second", "Challenges and Pitfalls of Reproducing Machine Learning Artifacts", "Li, Dakkak, Xiong and Hwu"
)


@dataclass(frozen=True)
class Fact:
    paper: Paper
    place: str
    what: str
    value: str
    """As printed."""


@dataclass(frozen=True)
class Scores:
    """Top-1 and top-5 in percent, as printed."""

    first: str
    second: str

    @property
    def shares(self) -> tuple[float, float]:
        return float(self.first) / 100, float(self.second) / 100


@dataclass(frozen=True)
class Table1Row:
    model: str
    reported: Scores
    measured: Scores
    pitfalls: dict[str, Scores]
    """By the name that the pitfall has here."""


def _row(model: str, *numbers: str) -> Table1Row:
    reported, measured, color, crop, cast = (Scores(*numbers[at : at + 2]) for at in range(0, 10, 2))
    return Table1Row(model, reported, measured, {"color-layout": color, "cropping": crop, "type-conversion": cast})


# fmt: off
TABLE1 = (
    #                     reported          measured          color layout      cropping          type conversion
    _row("Inception-V3", "78.77", "94.39", "78.41", "94.07", "67.44", "88.44", "78.27", "94.24", "78.41", "94.08"),
    _row("MobileNet1.0", "73.28", "91.30", "73.27", "91.30", "59.22", "82.95", "71.26", "90.17", "73.27", "91.29"),
    _row("ResNet50-V1",  "77.36", "93.57", "77.38", "93.58", "63.21", "85.65", "75.87", "92.82", "77.40", "93.56"),
    _row("ResNet50-V2",  "77.11", "93.43", "77.15", "93.43", "63.35", "85.95", "75.71", "92.72", "77.13", "93.42"),
    _row("VGG16",        "73.23", "91.31", "73.23", "91.31", "59.17", "82.77", "71.71", "90.61", "73.24", "91.33"),
    _row("VGG19",        "74.11", "91.35", "74.15", "91.77", "60.41", "83.57", "72.66", "90.99", "74.14", "91.75"),
)
# fmt: on
INCEPTION = TABLE1[0]

TABLE1_SETTING = "six models on Amazon P3 instances (Table 1); the figures are of Inception-v3"
FIGURES_SETTING = "Inception-v3 in TensorFlow 1.13.0-rc2 on an Intel Core i7-7820X and an NVIDIA TITAN V (§4.1)"

FACTS: dict[str, tuple[Fact, ...]] = {
    "color-layout": (
        Fact(FIRST, "Figure 3", "top-5 of one image in RGB and in BGR, Inception-v3", "a picture; no numbers in text"),
        Fact(SECOND, "Figure 4", "one image in RGB and in BGR mode, Inception-v3", "a picture; no numbers in text"),
    ),
    "data-layout": (
        Fact(SECOND, "Figure 5", "NHWC, as the model was trained", "n01873310 platypus, 0.998067"),
        Fact(SECOND, "Figure 5", "NCHW", "n03775546 mixing bowl, 0.313215"),
        Fact(FIRST, "§4.3, footnote", "accuracy over the whole dataset", "very low accuracy, left out of Table 1"),
    ),
    "decoding": (
        Fact(SECOND, "Figure 6a", "PIL: red = Y + … (Cr - 128)", "1.40200"),
        Fact(SECOND, "Figure 6b", "OpenCV: red = Y + … (Cr - 128)", "1.40300"),
        Fact(SECOND, "Figure 6a", "PIL: blue = Y + … (Cb - 128)", "1.77200"),
        Fact(SECOND, "Figure 6b", "OpenCV: blue = Y + … (Cb - 128)", "1.773"),
        Fact(FIRST, "Figure 5", "PIL against OpenCV", "edge pixels are not encoded consistently"),
    ),
    "cropping": (
        Fact(FIRST, "§4.1.1", "Inception-v3 is centre-cropped with fraction", "87.5%"),
        Fact(FIRST, "§4.3", "failure to centre-crop, top-1 difference", "1.45% - 7.5%"),
        Fact(FIRST, "§4.3", "failure to centre-crop, top-5 difference", "0.36% - 4.22%"),
    ),
    "type-conversion": (
        Fact(FIRST, "Figure 7", "mean and deviation in bytes; in floats", "127.5; 0.5"),
        Fact(SECOND, "Figure 8", "mean in bytes; in floats", "128; 0.5"),
        Fact(SECOND, "Figure 9", "predictions for one image", "very different"),
    ),
    "table1": (
        Fact(FIRST, "§4.3", "reported results are reproduced within, top-1", "0% - 5.5%"),
        Fact(FIRST, "§4.3", "reported results are reproduced within, top-5", "0% - 3.1%"),
    ),
    "language": (
        Fact(FIRST, "§4.1.3, Figure 9", "CPU: Python lists slower than C/C++ by", "64%"),
        Fact(FIRST, "§4.1.3, Figure 9", "CPU: NumPy slower than C/C++ by", "15%"),
        Fact(FIRST, "§4.1.3, Figure 9", "GPU: Python lists slower than C/C++ by", "3 - 11×"),
        Fact(FIRST, "§4.1.3, Figure 9", "GPU: NumPy slower than C/C++ by", "10%"),
        Fact(FIRST, "§4.1.3, Figure 9", "C/C++: GPU faster than CPU by", "5-24×"),
    ),
    "threads": (
        Fact(SECOND, "Figure 15", "Inception-v3, TensorFlow 1.13, batch size", "4"),
        Fact(SECOND, "Figure 15", "Intel Core i7-7820X, physical cores; logical cores", "8; 16"),
        Fact(SECOND, "§II-F, Figure 15", "best number of threads", "16"),
    ),
    "machine-settings": (),
    "frameworks": (
        Fact(FIRST, "§4.1.2, Figure 8", "AlexNet, Caffe2", "10.61ms"),
        Fact(FIRST, "§4.1.2, Figure 8", "AlexNet, TensorRT", "6.75ms"),
        Fact(FIRST, "§4.1.2, Figure 8", "conv2 and relu, Caffe2, two layers", "2.63ms"),
        Fact(FIRST, "§4.1.2, Figure 8", "conv2 and relu, TensorRT, fused", "1.95ms"),
    ),
    "cold-start": (
        Fact(SECOND, "Figure 2", "AlexNet in Caffe, batch size", "64"),
        Fact(SECOND, "§II-A, Figure 2", "weights of FC6, copied to the GPU when first needed", "144MB"),
        Fact(SECOND, "§II-A, Figure 2", "FC6 on POWER8 with NVLink and Pascal against x86 with Volta", "2× speedup"),
    ),
}
LANGUAGE_CPU = {"lists": 1.64, "numpy": 1.15, "c": 1.0}
"""Figure 9a in the text's words: Python 64 % and NumPy 15 % slower than C/C++."""
BEST_THREADS = 16
