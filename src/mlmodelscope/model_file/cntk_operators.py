"""CNTK's operators by number, as its serialization has them."""

from __future__ import annotations

_IN_ORDER = """
Negate Sigmoid Tanh ReLU Exp Log Sqrt Floor Abs Reciprocal Softmax Hardmax TransposeAxes Where Slice Dropout Reshape
Pooling SumAll Plus Minus ElementTimes Equal NotEqual Less LessEqual Greater GreaterEqual PackedIndex GatherPacked
ScatterPacked Times TransposeTimes Convolution SquaredError CrossEntropyWithSoftmax ClassificationError PastValue
FutureValue ReduceElements BatchNormalization Clip Select Splice Combine RandomSample RandomSampleInclusionFrequency
ROIPooling Logistic OptimizedRNNStack ReconcileDynamicAxis LogSoftmax LogPlus CosDistance Sin Cos Pass Block Unpooling
LambdaRank NDCG EditDistanceError NoOp LabelsToGraph StopGradient ELU ForwardBackward CosDistanceWithNegativeSamples
OneHot Pow ToSequence ToSequenceLike UnpackSequence Assign Gather StableSigmoid RandomDistribution Sinh Cosh
UnpackBatch ToBatch Asin Acos Pad Crop Atanh Asinh TopK Squeeze ConstantOp LatticeSequenceWithSoftmax Cast EyeLikeOp
CustomProxyOp StraightThrough Tan Atan ConvolutionSequenceShape
"""
_OPERATORS = dict(enumerate(_IN_ORDER.split()))


def operator_name(number: int) -> str:
    return _OPERATORS.get(number, f"operator {number}")
