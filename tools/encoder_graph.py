"""The weight-free ONNX graph of an encoder as BERT has it: embeddings, attention, GELU, each with its normalization.

Initializers are named as the tensors of Hugging Face's `BertModel`; those of matrices are transposed inside the graph.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from onnx import ModelProto, NodeProto, TensorProto, helper

# The first operator set that has a normalization of layers.
OPSET, IR_VERSION = 17, 8


@dataclass(frozen=True)
class Sizes:
    layers: int
    hidden: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float = 1e-12


class EncoderGraph:
    """An encoder under construction: each method adds nodes, and returns the name of what they make."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []

    def node(self, operator: str, name: str, *inputs: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def missing(self, name: str, *shape: int) -> str:
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights")
        self.initializers.append(tensor)
        return name

    def constant(self, name: str, values: list[int] | list[float], shape: list[int]) -> str:
        kind = TensorProto.INT64 if all(isinstance(each, int) for each in values) else TensorProto.FLOAT
        self.initializers.append(helper.make_tensor(name, kind, shape, values))
        return name

    def normalized(self, name: str, x: str, prefix: str) -> str:
        scale, shift = (self.missing(f"{prefix}.{part}", self.sizes.hidden) for part in ("weight", "bias"))
        return self.node("LayerNormalization", name, x, scale, shift, axis=-1, epsilon=self.sizes.epsilon)

    def dense(self, name: str, x: str, prefix: str, inputs: int, outputs: int) -> str:
        weight = self.missing(f"{prefix}.weight", outputs, inputs)
        turned = self.node("Transpose", f"{name}.weight", weight, perm=[1, 0])
        product = self.node("MatMul", f"{name}.product", x, turned)
        return self.node("Add", name, product, self.missing(f"{prefix}.bias", outputs))

    def embeddings(self) -> str:
        sizes = self.sizes
        words = self.missing("embeddings.word_embeddings.weight", sizes.vocabulary, sizes.hidden)
        kinds = self.missing("embeddings.token_type_embeddings.weight", sizes.types, sizes.hidden)
        places = self.missing("embeddings.position_embeddings.weight", sizes.positions, sizes.hidden)
        shape = self.node("Shape", "shape", "input_ids")
        length = self.node("Gather", "length", shape, self.constant("one", [1], []), axis=0)
        numbers = self.node("Range", "numbers", self.constant("zero", [0], []), length, "one")
        x = self.node("Gather", "words", words, "input_ids", axis=0)
        x = self.node("Add", "words.kinds", x, self.node("Gather", "kinds", kinds, "token_type_ids", axis=0))
        x = self.node("Add", "words.places", x, self.node("Gather", "places", places, numbers, axis=0))
        return self.normalized("embedded", x, "embeddings.LayerNorm")

    def hiding(self) -> str:
        """What is added to scores: 0 where the mask is 1, the least number elsewhere."""
        mask = self.node("Cast", "mask", "attention_mask", to=TensorProto.FLOAT)
        hidden = self.node("Sub", "mask.hidden", self.constant("whole", [1.0], []), mask)
        least = self.node("Mul", "mask.least", hidden, self.constant("least", [-3.4028234663852886e38], []))
        return self.node("Unsqueeze", "mask.added", least, self.constant("axes", [1, 2], [2]))

    def attention(self, name: str, x: str, prefix: str, added: str) -> str:
        sizes, parts = self.sizes, {}
        for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
            made = self.dense(f"{name}.{part}", x, f"{prefix}.self.{part}", sizes.hidden, sizes.hidden)
            split = self.node("Reshape", f"{name}.{part}.heads", made, "heads")
            parts[part] = self.node("Transpose", f"{name}.{part}.turned", split, perm=order)
        scores = self.node("MatMul", f"{name}.scores", parts["query"], parts["key"])
        scores = self.node("Div", f"{name}.scaled", scores, "scale")
        weights = self.node("Softmax", f"{name}.weights", self.node("Add", f"{name}.hidden", scores, added), axis=-1)
        seen = self.node("MatMul", f"{name}.seen", weights, parts["value"])
        seen = self.node("Transpose", f"{name}.seen.turned", seen, perm=[0, 2, 1, 3])
        seen = self.node("Reshape", f"{name}.joined", seen, "joined")
        made = self.dense(f"{name}.output", seen, f"{prefix}.output.dense", sizes.hidden, sizes.hidden)
        return self.normalized(f"{name}.done", self.node("Add", f"{name}.sum", made, x), f"{prefix}.output.LayerNorm")

    def gelu(self, name: str, x: str) -> str:
        error = self.node("Erf", f"{name}.error", self.node("Div", f"{name}.root", x, "root"))
        half = self.node("Mul", f"{name}.half", x, "half")
        return self.node("Mul", name, half, self.node("Add", f"{name}.plus", error, "whole"))

    def layer(self, number: int, x: str, added: str) -> str:
        sizes, prefix, name = self.sizes, f"encoder.layer.{number}", f"layer{number}"
        x = self.attention(f"{name}.attention", x, f"{prefix}.attention", added)
        inner = self.dense(f"{name}.inner", x, f"{prefix}.intermediate.dense", sizes.hidden, sizes.inner)
        outer = self.dense(
            f"{name}.outer", self.gelu(f"{name}.gelu", inner), f"{prefix}.output.dense", sizes.inner, sizes.hidden
        )
        is_last = number == sizes.layers - 1
        done = "last_hidden_state" if is_last else f"{name}.done"
        return self.normalized(done, self.node("Add", f"{name}.sum", outer, x), f"{prefix}.output.LayerNorm")


def encoder_graph(name: str, about: str, sizes: Sizes) -> ModelProto:
    graph = EncoderGraph(sizes)
    graph.constant("heads", [0, 0, sizes.heads, sizes.hidden // sizes.heads], [4])
    graph.constant("joined", [0, 0, sizes.hidden], [3])
    graph.constant("scale", [math.sqrt(sizes.hidden / sizes.heads)], [])
    graph.constant("root", [math.sqrt(2.0)], [])
    graph.constant("half", [0.5], [])
    x, added = graph.embeddings(), graph.hiding()
    for number in range(sizes.layers):
        x = graph.layer(number, x, added)
    inputs = [
        helper.make_tensor_value_info(each, TensorProto.INT64, ["N", "tokens"])
        for each in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info(x, TensorProto.FLOAT, ["N", "tokens", sizes.hidden])
    made = helper.make_graph(graph.nodes, name, inputs, [output], graph.initializers, doc_string=about)
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(made, producer_name="mlmodelscope", ir_version=IR_VERSION, opset_imports=opsets)
