"""Operators of ONNX that frameworks have, as they themselves say: names of operators, and where each list is from."""

from __future__ import annotations

from mlmodelscope.model_file.graph import words

ONNXRUNTIME = words(
    """
    Abs Acos Acosh Add Affine AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool
    BatchNormalization Bernoulli BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor BlackmanWindow Cast
    CastLike CausalConvWithState Ceil Celu CenterCropPad Clip Col2Im Compress Concat ConcatFromSequence Constant
    ConstantOfShape Conv ConvInteger ConvTranspose Cos Cosh Crop CumProd CumSum DFT DeformConv DepthToSpace
    DequantizeLinear Det Div Dropout DynamicQuantizeLinear DynamicSlice Einsum Elu Equal Erf Exp Expand EyeLike
    Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool Greater
    GreaterOrEqual GridSample GroupNormalization HammingWindow HannWindow HardSigmoid HardSwish Hardmax Identity If
    ImageScaler InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less LessOrEqual
    LinearAttention Log LogSoftmax Loop LpNormalization LpPool MatMul MatMulInteger Max MaxPool MaxRoiPool MaxUnpool
    Mean MeanVarianceNormalization MelWeightMatrix MemcpyFromHost MemcpyToHost Min Mish Mod Mul Multinomial Neg
    NegativeLogLikelihoodLoss NonMaxSuppression NonZero Not OneHot Optional OptionalGetElement OptionalHasElement Or
    PRelu Pad ParametricSoftplus Pow QLinearConv QLinearMatMul QuantizeLinear RMSNormalization RNN RandomNormal
    RandomNormalLike RandomUniform RandomUniformLike Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp
    ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare RegexFullMatch Relu Reshape Resize
    ReverseSequence RoiAlign RotaryEmbedding Round STFT Scale ScaledTanh Scan Scatter ScatterElements ScatterND Selu
    SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap Shape Shrink
    Sigmoid Sign SimplifiedLayerNormalization Sin Sinh Size Slice Softmax SoftmaxCrossEntropyLoss Softplus Softsign
    SpaceToDepth Split SplitToSequence Sqrt Squeeze StringConcat StringNormalizer StringSplit Sub Sum SwiGLU Swish
    Tan Tanh TensorScatter TfIdfVectorizer ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze Upsample Where
    Xor
    """
)
"""Kernels of the CPU provider that the package onnxruntime 1.31.1 lists, and operators that ONNX defines by others."""
ONNXRUNTIME_MICROSOFT = words(
    """
    Attention AttnLSTM BeamSearch BiasGelu BifurcationDetector BranchwiseRMSNorm CDist CausalConvWithState
    ConvTransposeWithDynamicPads CropAndResize DecoderMaskedMultiHeadAttention DequantizeLinear DynamicQuantizeLSTM
    DynamicQuantizeMatMul DynamicTimeWarping EmbedLayerNormalization EngramGate ExpandDims FastGelu FusedConv
    FusedGemm FusedMatMul GatedAdd GatedRMSNorm GatherBlockQuantized GatherND Gelu GreedySearch GridSample
    GroupQueryAttention HyperConnectionPostMix HyperConnectionPreMix Inverse LinearAttention LinearAttentionGate
    MRotaryEmbedding MatMulBnb4 MatMulFpQ4 MatMulInteger16 MatMulIntegerToFloat MatMulNBits MaxpoolWithMask MoE
    MultiHeadAttention MurmurHash3 NGramHashMapping NGramRepeatBlock NhwcMaxPool Pad QAttention
    QEmbedLayerNormalization QGemm QLinearAdd QLinearAveragePool QLinearConcat QLinearConv QLinearGlobalAveragePool
    QLinearLeakyRelu QLinearMul QLinearSigmoid QLinearSoftmax QLinearWhere QMoE QuantizeLinear QuickGelu Range
    RotaryEmbedding SampleOp Sampling ScaledSiLU SkipLayerNormalization SkipSimplifiedLayerNormalization
    SparseAttention SparseToDenseMatMul Tokenizer TransposeMatMul Trilu UnfoldTensor Unique VarlenNGramHashMapping
    WhisperBeamSearch WordConvEmbedding
    """
)
"""The same of the domain com.microsoft."""
OPENCV = words(
    """
    Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool BatchNormalization Cast Ceil
    Celu Clip Concat Constant ConstantFill ConstantOfShape Conv ConvTranspose Cos Cosh CumSum DepthToSpace
    DequantizeLinear DetectionOutput Div Dropout Einsum Elu Equal Erf Exp Expand Flatten Floor GRU Gather
    GatherElements Gelu GeluApproximation Gemm GlobalAveragePool GlobalMaxPool Greater GreaterOrEqual
    GroupNormalization HardSigmoid HardSwish Identity If ImageScaler InstanceNormalization LRN LSTM
    LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax MatMul Max MaxPool MaxUnpool Mean Min Mod Mul Neg
    Not Or PRelu Pad Pow QuantizeLinear Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax
    ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize Round Scatter ScatterElements
    ScatterND Selu Shape Shrink Sigmoid Sign Sin Sinh Slice SoftMax Softmax Softplus Softsign SpaceToDepth Split
    Sqrt Squeeze Sub Sum Tan Tanh ThresholdedRelu Tile Transpose Unsqueeze Upsample Where Xor
    """
)
"""What the ONNX importer of OpenCV's branch 5.x dispatches, in modules/dnn/src/onnx/onnx_importer2.cpp."""
TENSORRT = words(
    """
    Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization Cast Ceil Celu Clip
    Concat Constant ConstantOfShape Conv ConvTranspose Cos Cosh CumSum DepthToSpace DequantizeLinear Div Dropout
    Einsum Elu Equal Erf Exp Expand EyeLike Flatten Floor GRU Gather GatherElements GatherND Gemm GlobalAveragePool
    GlobalLpPool GlobalMaxPool Greater GreaterOrEqual GridSample HardSigmoid HardSwish Identity If ImageScaler
    InstanceNormalization IsNaN LRN LSTM LeakyRelu Less LessOrEqual Log LogSoftmax Loop LpNormalization LpPool
    MatMul Max MaxPool Mean MeanVarianceNormalization Min Mod Mul Neg NonMaxSuppression NonZero Not OneHot Or PRelu
    Pad ParametricSoftplus Pow QuantizeLinear RNN RandomNormal RandomNormalLike RandomUniform RandomUniformLike
    Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd
    ReduceSum ReduceSumSquare Relu Reshape Resize ReverseSequence RoiAlign Round ScaledTanh Scan Scatter
    ScatterElements ScatterND Selu Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax Softplus Softsign
    SpaceToDepth Split Sqrt Squeeze Sub Sum Tan Tanh ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze Upsample
    Where Xor
    """
)
"""Those with a Y in onnx-tensorrt's docs/operators.md of TensorRT 8.5, which reads opsets up to 17."""
