"""What a PyTorch file is, told without PyTorch, and whether opening it would run more than a model.

PyTorch writes four things into files of the same names: TorchScript, exported programs, and pickles of weights or of
whole objects. Only the first two are models by themselves. An exported program is read with `eval` and, where that
fails, `pickle` by PyTorch itself (2.13 still does): what could reach either is refused here.
"""

import json
import os
import pickletools
import re
import zipfile

from .predictor import ModelError

_MOST_BYTES = 1 << 28  # of any text or pickle that is looked through

_WEIGHTS = re.compile(r"collections (OrderedDict|defaultdict)$|torch\._utils _rebuild|torch \w*(Storage|Size)$|numpy")
_ADVICE = (
    "carry the class in the manifest as a function of its own, or save the model with torch.jit.script,"
    " torch.jit.trace or torch.export.save"
)

# Operators of TorchScript's that reach files.
_TOUCHES_FILES = re.compile(r"\b(?:torch|ops\.aten)\.(save|from_file)\(")

_OPERATOR = re.compile(r"(torch\.ops\.[a-z]\w*\.\w+(\.\w+)?|_operator\.\w+|math\.\w+|torch\.sym_\w+|torch\._sym_\w+)\Z")
_NAME = re.compile(r"[\w.:/<>-]*\Z")
_EXPRESSION = re.compile(r"[\w\s.,()+*/%<>=!&|~-]*\Z")
_ATOM = re.compile(r"Symbol\('\w+'(, \w+=(True|False))*\)|Float\('[\d.e+-]+', precision=\d+\)")
_CALLED = re.compile(r"([A-Za-z_][\w.]*)\s*\(")
_ATTRIBUTE = re.compile(r"\.\s*[A-Za-z_]|[A-Za-z_]\s*\.|__")
_FUNCTIONS = re.compile(
    r"(Integer|Rational|Max|Min|Mod|Abs|Pow|Add|Mul|Piecewise|Eq|Ne|Lt|Gt|Le|Ge|And|Or|Not|Equality"
    r"|Unequality|LessThan|GreaterThan|StrictLessThan|StrictGreaterThan|floor|ceiling|sqrt|FloorDiv|CeilDiv"
    r"|CleanDiv|PythonMod|ModularIndexing|TrueDiv|IntTrueDiv|FloatTrueDiv|IntTruncDiv|PowByNatural|FloatPow"
    r"|ToFloat|TruncToInt|TruncToFloat|CeilToInt|FloorToInt|RoundToInt|RoundDecimal|Where|Identity|LShift"
    r"|RShift)\Z"
)


def kind_of(path):
    """ "torchscript" or "exported"; ModelError says what anything else is."""
    if os.path.isdir(path):
        raise ModelError("PyTorch's models are files, %s is a folder" % os.path.basename(path))
    try:
        with open(path, "rb") as file:
            start = file.read(2)
        if start == b"\x80\x02":
            raise ModelError("the file is a pickle, as PyTorch wrote before 1.6: %s" % _ADVICE)
        with zipfile.ZipFile(path) as archive:
            return _look(archive)
    except OSError as error:
        raise ModelError("the model file cannot be read: %s" % error)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, RuntimeError) as error:
        raise ModelError("the file is no PyTorch model, or only a part of one: %s" % error)


def _look(archive):
    names = {name.partition("/")[2]: name for name in archive.namelist()}
    # With `model.json` as PyTorch wrote it before 1.4.
    if ("constants.pkl" in names and "data.pkl" in names) or "model.json" in names:
        for name in names.values():
            found = _TOUCHES_FILES.search(_text(archive, name)) if name.endswith(".py") else None
            if found:
                raise ModelError("the model's code calls torch.%s, which reaches files: refused" % found.group(1))
        return "torchscript"
    if any(re.search(r"(^|/)(models/[^/]+|serialized_exported_program)\.json$", name) for name in archive.namelist()):
        _vet(archive)
        return "exported"
    if any("aotinductor" in short for short in names):
        raise ModelError("the file holds machine code (AOTInductor): save the model with torch.export.save instead")
    if ".data/python_version" in names or any(short.startswith(".data/extern_modules") for short in names):
        raise ModelError("the file is a torch.package, which is Python code: %s" % _ADVICE)
    if "data.pkl" in names:
        raise ModelError(_tell_pickle(_bytes(archive, names["data.pkl"])))
    raise ModelError("the file is a zip archive, but no PyTorch model")


def _bytes(archive, name):
    if archive.getinfo(name).file_size > _MOST_BYTES:
        raise ModelError("`%s` in the model file is larger than any model's" % name)
    return archive.read(name)


def _text(archive, name):
    return _bytes(archive, name).decode("utf-8", "replace")


def _tell_pickle(data):
    """What a pickle would make, by the names in it; nothing is unpickled."""
    needs = []
    try:
        words = []
        for operation, argument, _ in pickletools.genops(data):
            if operation.name == "GLOBAL":
                needs.append(argument)
            elif operation.name == "STACK_GLOBAL":
                needs.append(" ".join(words[-2:]))
            elif isinstance(argument, str):
                words.append(argument)
    except Exception:  # a damaged pickle is a pickle all the same
        pass
    foreign = [name.replace(" ", ".") for name in needs if not _WEIGHTS.match(name)]
    if foreign:
        return "the file is a pickle that runs Python code (%s) when it is opened: %s" % (foreign[0], _ADVICE)
    return "the file holds weights and no model (a state dict): %s" % _ADVICE


def _vet(archive):
    for name in archive.namelist():
        if name.endswith(".json"):
            try:
                _vet_value(json.loads(_text(archive, name)))
            except (ValueError, RecursionError) as error:
                if isinstance(error, ModelError):
                    raise
                raise ModelError("`%s` in the model file is damaged: %s" % (name, error))
        if os.path.basename(name).startswith("opaque_obj"):
            raise ModelError("the model file holds a pickled Python object: refused")


def _vet_value(value):
    if isinstance(value, list):
        for each in value:
            _vet_value(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if not isinstance(each, str):
                _vet_value(each)
            elif key in ("target", "as_operator") and not _OPERATOR.match(each):
                # A signature's `target` is the name of a weight; a node's has a callable's name.
                if key == "as_operator" or "inputs" in value:
                    raise ModelError(
                        "the model file calls `%s`, which is no operator of PyTorch's: refused" % each[:80]
                    )
            elif key == "expr_str" and not _is_arithmetic(each):
                raise ModelError("the model file has `%s` for a size: refused" % each[:80])
            elif key.endswith("name") and not _NAME.match(each):  # names end up in Python code that PyTorch writes
                raise ModelError("the model file has `%s` for a name: refused" % each[:80])
            elif "default_factory_module" in each or "__enum__" in each:
                raise ModelError("the model file asks for a Python module: refused")


def _is_arithmetic(text):
    text = _ATOM.sub("1", text)
    if not _EXPRESSION.match(text) or _ATTRIBUTE.search(text):
        return False
    return all(_FUNCTIONS.match(name) for name in _CALLED.findall(text))
