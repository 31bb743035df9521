"""Mistakes that people make when they write a layer once more, each as a change of one ONNX operator."""
