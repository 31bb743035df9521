"""Compile the .proto files of server/rpc/ into `services.binpb`, which the server reads as it starts, and that of
inference/ into `inference.binpb`. Tests compare.

It holds descriptions, not Python: what protoc generates refuses a protobuf older than the one it was made with, and its
code for grpcio likewise, which would tie everybody to the newest release. Descriptions suit all of them.
"""

from __future__ import annotations

import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

FOLDER = Path(__file__).parent.parent / "src" / "mlmodelscope" / "server" / "rpc"
COMPILED = FOLDER / "services.binpb"
SOURCES = ("mlmodelscope.proto", "health.proto", "opentelemetry.proto")
INFERENCE = FOLDER.parent.parent / "inference"


def compile_descriptions(folder: Path = FOLDER, sources: tuple[str, ...] = SOURCES) -> bytes:
    """The files and what they import, as protoc's FileDescriptorSet."""
    standard = files("grpc_tools") / "_proto"
    with tempfile.TemporaryDirectory() as place:
        made = Path(place) / "made"
        words = [f"-I{folder}", f"-I{standard}", "--include_imports", f"--descriptor_set_out={made}", *sources]
        if protoc.main(["protoc", *words]) != 0:
            raise SystemExit("protoc refuses the files, see above")
        return made.read_bytes()


if __name__ == "__main__":
    COMPILED.write_bytes(compile_descriptions())
    (INFERENCE / "inference.binpb").write_bytes(compile_descriptions(INFERENCE, ("inference.proto",)))
