"""The same server over gRPC: thin, since the handlers know no transport. `mlmodelscope.proto` is its description."""
