"""Our models by the Open Inference Protocol v2, over REST and gRPC: tensors in, tensors out."""
