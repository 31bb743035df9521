"""Hints that name no command, option, variable or key of ours: plain advice, and examples that are tried."""

from __future__ import annotations

from collections.abc import Callable

import mlmodelscope
from mlmodelscope.author.request import Request
from mlmodelscope.client.client import Client
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.plan.claim import parse_claim


def _tried(text: str, read: Callable[[str], object], *examples: str) -> tuple[str, Callable[[], None]]:
    """Each example is part of the hint, and is read without an error."""

    def check() -> None:
        for each in examples:
            assert each in text
            read(each)

    return text, check


def _uploads(example: str) -> None:
    assert example == "mlmodelscope.connect(url).upload(path)"
    assert callable(mlmodelscope.connect) and callable(Client.upload)


EXAMPLES = dict(
    [
        _tried("versions look like 1.2.0, 1.13.0-rc2 or 1.12", Version, "1.2.0", "1.13.0-rc2", "1.12"),
        _tried(
            "examples: ^1.x, ~1.2, >=1.10.x <=1.13.0, 1.12, *",
            Constraint,
            *("^1.x", "~1.2", ">=1.10.x <=1.13.0", "1.12", "*"),
        ),
        _tried("write a range as `>=1.10 <=1.13`", Constraint, ">=1.10 <=1.13"),
        _tried(
            "a claim is METRIC=VALUE@DATASET, the value as published (a share in percent), such as "
            "ap=37.4@coco-val2017",
            parse_claim,
            "ap=37.4@coco-val2017",
        ),
        _tried(
            "a claim looks like top1=75.1@imagenet-val:https://where.it/is",
            lambda each: Request(claims=(each,)).claim_values,
            "top1=75.1@imagenet-val:https://where.it/is",
        ),
        _tried(
            "for an archive, name a folder in it: `archive.zip#folder/`, or `archive.zip#/` for all of it",
            parse_reference,
            *("archive.zip#folder/", "archive.zip#/"),
        ),
        _tried(
            "put it beside the manifest, or send it yourself and name it by what this says: "
            "mlmodelscope.connect(url).upload(path)",
            _uploads,
            "mlmodelscope.connect(url).upload(path)",
        ),
    ]
)

ADVICE = {
    "such as {}",
    "name at most {}",
    "remove {} first",
    "cancel it first",
    "an evaluation by the server's own agent fetches it",
    "a tag begins with a letter or digit and has up to {} letters, digits, spaces and .:+@_-",
    "{}={} is the share, {}={}% the percentage",
    "; did you mean %s?",
    "a new version of the package brings new facts",
    "a sample is its id, or its place from 0 to {}",
    "another label is free, such as {}-new",
    "fetch all files",
    "git+file:///FOLDER reads a local clone",
    "git+https://host/repository@COMMIT#folder, or git+file:///folder/of/a/repository",
    "install git, or download an archive of the repository",
    "is the address right, and the commit there?",
    "it is one of the options: Options({}=…)",
    "its page at /models has a search",
    "name the file itself, or add the index that belongs to the files: model.safetensors.index.json",
    "name the folder inside it that has the facts",
    "netrc or git's own settings have those",
    "reinstall the package",
    "small letters, digits and . _ - only, a letter or digit first, such as my-models",
    "such as 30M",
    "the options are {}",
    "inspect reads files; what a library or a function builds has none",
    "where a framework does not publish such a list, only loading the model tells",
    "lines such as ILSVRC2012_val_00000001.JPEG 65, or n01751748 alone, are read, and the devkit's "
    "ILSVRC2012_validation_ground_truth.txt with its meta.mat beside it",
    "put the devkit's folder or a val.txt beside the pictures, or sort the pictures into a folder for each synset",
    "unpack the whole ILSVRC2012_devkit_t12.tar.gz",
    "save them as safetensors: model.save_pretrained(FOLDER, safe_serialization=True) writes them",
    "a row is `name=value,…` or a JSON object; - reads JSON Lines or CSV from standard input",
    "a dataset may have more: evaluate",
    "iconv changes encodings",
    "rows are JSON Lines, or CSV whose first line names the columns",
    "give `{}` as the input",
    "write 1 for a column that never changes, as scikit-learn does",
    "tags are a letter, a dash and a name; the scheme plain has names alone",
    "name the file in it",
    "test splits are often unlabeled",
    "names of files count from the source's folder, {}",
    "{}:{} names one of them",
    "say which by its number",
    "write it as JSON Lines: one object a line",
    "its numbers are: {}",
    "its units are: {}",
    "let that process finish, or end it; then give the same command again: what was finished is kept",
    "credentials come from netrc, or a token in {}",
    "give the same command with the manifest again, or name the credentials in netrc",
    "give yours another name; an admin may add versions of any",
    "its initializers hold numbers: use the ONNX file as the model, without a weights file; in a graph "
    'without weights they are empty, or external with the location "weights"',
    "leave it out: agents take credentials from netrc or their environment; or upload the file",
    "rename yours",
    "save its manifest here first, or send its text: `{}: {text: …}`",
    "such as 1800",
    "such as 20G or 21474836480",
    "write it without a repetition inside another one, such as `(a+)+`",
    "{}FILE allows more",
    "{}REQUEST allows more",
    "put the address of the real file there",
    "put the file's own there: sha256sum FILE prints it",
    "",
    "; a port for REST has an address with http://",
    "; a port for gRPC has an address with grpc://",
    "a path to a manifest file will do as well",
    "announce it again",
    "announce it first",
    "another question is another call",
    "ask how far it is, and go on",
    "check the network",
    "choose another one: {} NUMBER",
    "delete it to have a new one made",
    "delete it, and add the keys again",
    "delete the record",
    "did you mean `{}`?",
    "end it with .csv or .json",
    "end it with one of {}",
    "end it with one of {}, or give a folder's name",
    "fetch it again; a cut-off download looks like this",
    "finish or delete some of them",
    "free some and give the same command again: it resumes where it left off",
    "free some, or {} another disk",
    "give an https address",
    "give it a new version",
    "give the file another name",
    "give the same evaluate command again: it resumes where it left off",
    "go on from there",
    "in a container /sys cannot be written: set it on the host",
    "install the package that adds it",
    "is the database running, and is its address right?",
    "it comes with the CUDA toolkit, or as the package nsight-compute",
    "it looks like {}",
    "it must begin with https://",
    "it was never uploaded, or not completely",
    "keys that do hold tensors: {}",
    "known names: {}",
    "known: {}",
    "leave the key out",
    "libraries with both methods: %s",
    "make the plan anew, or install the package as it was then",
    "mlmodelscope {} {} writes what it has",
    "name a folder that is there",
    "name its package, python3",
    "name the file that is to be written",
    "name the image by its digest: {}@sha256:…",
    "nearest names in the weights: {}",
    "nothing listens there: is the address right?",
    "nothing of it was kept",
    "nothing of it was kept; send it again",
    "only dictionaries of tensors are read: torch.save(model.state_dict(), …)",
    "pack it yourself",
    "publish it as an ONNX file with external data instead",
    "run it as root",
    "save it in this encoding",
    "save the weights with torch.save(model.state_dict(), …) or as safetensors",
    "send JSON",
    "send the file itself",
    "set the machine back by hand or start it again, then delete the file",
    "the answers so far are kept: the same command resumes where it left off",
    "the file is damaged or is something else; move it away to begin a new one",
    "the file is not the one that the manifest's author used; nothing of it was kept",
    "the kernel kills processes when memory runs out",
    "they run with your own rights; settings such as the governor often need root",
    "this family usually {}",
    "upgrade mlmodelscope",
    "upgrade mlmodelscope there",
    "upload it again",
    "upload it first",
    "write it as input=1,3,224,224",
    "{} a folder of yours",
    "{} and the protocol's own package",
    "{} another folder",
    "{}, or write SVG, which browsers show",
    "{}; {}",
}
