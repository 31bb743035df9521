"""Tensors of weights files, whatever wrote them: read without a framework, and never running what is in them."""
