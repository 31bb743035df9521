"""Write the small real model files that tests/model_file describes, each with the framework that owns its format.

    python tools/make_model_files.py onnx|torch|tensorflow|metadata|openvino [folder]

One group at a time, because the frameworks do not share an environment. The committed files were made with

    group       packages                                     files
    onnx        onnx 1.23.2                                  onnx_*.onnx
    torch       torch 2.13.0+cpu, onnxscript 0.7.2           torch_*.pt, torch_*.pt2, torch_export.onnx
    tensorflow  tensorflow-cpu 2.21.0                        saved_model/, frozen.pb, keras_*.tflite
    metadata    tflite-support 0.4.4                         metadata.tflite, of keras_float.tflite
    openvino    openvino 2026.4.1                            openvino.xml, of onnx_softmax.onnx

Weights are random; nothing here is good at anything. Nobody runs this for the tests: the files are committed.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

FILES = Path(__file__).resolve().parents[1] / "tests" / "model_file" / "files"
NAMES = ["cat", "dog", "bird", "fish"]


def make_onnx(folder: Path) -> None:
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = numpy.random.default_rng(0)

    def save(name: str, first: list[onnx.NodeProto], last: list[onnx.NodeProto], shape: list, **metadata: str) -> None:
        """`first` makes "pixels" of "image" and `last` makes "scores" of "logits"; between them is a convolution."""
        weights = [
            numpy_helper.from_array(random.normal(size=(4, 3, 3, 3)).astype("float32"), "kernel"),
            numpy_helper.from_array(numpy.array([0, 4]), "flat"),
        ]
        body = [
            helper.make_node("Conv", ["pixels", "kernel"], ["features"], kernel_shape=[3, 3]),
            helper.make_node("GlobalAveragePool", ["features"], ["pooled"]),
            helper.make_node("Reshape", ["pooled", "flat"], ["logits"]),
        ]
        image = helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)
        # Files of before IR version 4 list weights among the inputs too; a reader must not take them for inputs.
        kernel = helper.make_tensor_value_info("kernel", TensorProto.FLOAT, [4, 3, 3, 3])
        scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [shape[0], 4])
        graph = helper.make_graph([*first, *body, *last], "toy", [image, kernel], [scores], weights)
        model = helper.make_model(
            graph,
            producer_name="make_model_files",
            producer_version="1",
            opset_imports=[helper.make_opsetid("", 13)],
            ir_version=7,
            doc_string="a toy",
        )
        helper.set_model_props(model, metadata)
        onnx.checker.check_model(model)
        onnx.save(model, folder / name)

    scale = [
        helper.make_node("Constant", [], ["half"], value_float=127.5),
        helper.make_node("Sub", ["image", "half"], ["centred"]),
        helper.make_node("Div", ["centred", "half"], ["pixels"]),
    ]
    turn = [helper.make_node("Transpose", ["image"], ["pixels"], perm=[0, 3, 1, 2])]
    softmax = [
        helper.make_node("Softmax", ["logits"], ["shares"], axis=1),
        helper.make_node("Identity", ["shares"], ["scores"]),
    ]
    nothing = [helper.make_node("Identity", ["logits"], ["scores"])]
    yolo_names = str(dict(enumerate(NAMES)))  # how ultralytics writes them: Python's text of a dictionary
    save("onnx_softmax.onnx", scale, softmax, [1, 3, 8, 8], names=yolo_names)
    save("onnx_nhwc.onnx", turn, softmax, [1, 8, 8, 3])
    save("onnx_logits.onnx", scale, nothing, [1, 3, 8, 8])
    save("onnx_dynamic.onnx", scale, softmax, ["batch", 3, "height", "width"])


def make_torch(folder: Path) -> None:
    import torch

    class Toy(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convolution = torch.nn.Conv2d(3, 4, 3)

        def forward(self, image: torch.Tensor) -> torch.Tensor:
            return torch.softmax(self.convolution(image).mean((2, 3)), dim=1)

    class Logits(Toy):
        def forward(self, image: torch.Tensor, scale: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
            features = self.convolution(image)
            return features.mean((2, 3)) * scale, features

    torch.manual_seed(0)
    toy, image = Toy().eval(), torch.zeros(2, 3, 8, 8)
    batch = {"image": {0: torch.export.Dim("batch", min=1, max=64)}}
    torch.jit.script(Logits().eval()).save(str(folder / "torch_scripted.pt"))
    torch.jit.trace(toy, image).save(str(folder / "torch_traced.pt"))
    torch.save(toy.state_dict(), folder / "torch_state_dict.pt")
    torch.export.save(torch.export.export(toy, (image,), dynamic_shapes=batch), folder / "torch_exported.pt2")
    torch.onnx.export(
        toy, (image,), folder / "torch_export.onnx", dynamo=True, dynamic_shapes=batch, external_data=False
    )


def make_tensorflow(folder: Path) -> None:
    import numpy
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    tf.keras.utils.set_random_seed(0)
    image = tf.keras.Input((8, 8, 3), name="image")
    features = tf.keras.layers.Conv2D(4, 3, activation="relu")(image)
    pooled = tf.keras.layers.GlobalAveragePooling2D()(features)
    toy = tf.keras.Model(image, tf.keras.layers.Dense(4, activation="softmax", name="scores")(pooled))

    @tf.function(input_signature=[tf.TensorSpec((None, 8, 8, 3), tf.float32, name="image")])
    def serve(image: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"scores": toy(image)}

    with tempfile.TemporaryDirectory() as place:
        tf.saved_model.save(toy, place, signatures={"serving_default": serve})
        (folder / "saved_model").mkdir(exist_ok=True)
        shutil.copy(Path(place) / "saved_model.pb", folder / "saved_model")  # its weights say nothing of it

    frozen = convert_variables_to_constants_v2(serve.get_concrete_function())
    (folder / "frozen.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString())

    fixed = tf.function(lambda image: toy(image)).get_concrete_function(tf.TensorSpec((1, 8, 8, 3), name="image"))
    converter = tf.lite.TFLiteConverter.from_concrete_functions([fixed], toy)
    (folder / "keras_float.tflite").write_bytes(converter.convert())

    random = numpy.random.default_rng(0)
    converter = tf.lite.TFLiteConverter.from_keras_model(toy)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([random.random((1, 8, 8, 3), "float32")] for _ in range(8))
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.uint8
    (folder / "keras_quantized.tflite").write_bytes(converter.convert())


def make_metadata(folder: Path) -> None:
    from tflite_support.metadata_writers import image_classifier, writer_utils

    with tempfile.TemporaryDirectory() as place:
        labels = Path(place) / "labels.txt"
        labels.write_text("\n".join(NAMES) + "\n")
        model = writer_utils.load_file(str(folder / "keras_float.tflite"))
        writer = image_classifier.MetadataWriter.create_for_inference(model, [127.5], [127.5], [str(labels)])
        (folder / "metadata.tflite").write_bytes(writer.populate())


def make_openvino(folder: Path) -> None:
    import openvino

    model = openvino.convert_model(folder / "onnx_softmax.onnx")
    model.inputs[0].get_node().set_layout(openvino.Layout("NCHW"))
    model.set_rt_info(" ".join(NAMES), ["model_info", "labels"])
    model.set_rt_info("Classification", ["model_info", "model_type"])
    with tempfile.TemporaryDirectory() as place:
        openvino.save_model(model, Path(place) / "openvino.xml", compress_to_fp16=False)
        shutil.copy(Path(place) / "openvino.xml", folder)  # its weights say nothing of it


def forget_paths(file: Path) -> None:
    """Exporters write down where they ran: that is nobody's business, and says nothing of the model."""
    path = re.compile(rb"/(?:tmp|home|root|work|usr|opt)/[^\x00-\x1f\\\\\"',: ]+")
    if not zipfile.is_zipfile(file):
        file.write_bytes(path.sub(lambda found: b"x" * len(found[0]), file.read_bytes()))
        return
    with zipfile.ZipFile(file) as packed:
        members = [(info.filename, packed.read(info)) for info in packed.infolist()]
    with zipfile.ZipFile(file, "w") as packed:
        for name, content in members:
            if not name.endswith(".debug_pkl"):  # source lines, for tracebacks only
                stamp = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
                packed.writestr(stamp, path.sub(b"model.py", content) if name.endswith(".json") else content)


MAKERS = {
    "onnx": make_onnx,
    "torch": make_torch,
    "tensorflow": make_tensorflow,
    "metadata": make_metadata,
    "openvino": make_openvino,
}

if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in MAKERS:
        sys.exit(__doc__)
    target = Path(sys.argv[2]) if len(sys.argv) == 3 else FILES
    target.mkdir(parents=True, exist_ok=True)
    MAKERS[sys.argv[1]](target)
    for made in target.glob("torch_*"):
        forget_paths(made)
