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
from .pytorch_reach import refuse_code, refuse_operator

_MOST_BYTES = 1 << 28  # of any text or pickle that is looked through
_MOST_CODE = 1 << 24  # of one file of TorchScript; the largest models' have some megabytes

_WEIGHTS = re.compile(r"collections (OrderedDict|defaultdict)$|torch\._utils _rebuild|torch \w*(Storage|Size)$|numpy")
_ADVICE = (
    "carry the class in the manifest as a function of its own, or save the model with torch.jit.script,"
    " torch.jit.trace or torch.export.save"
)

_START = b"PK\x03\x04"
_DEFINES = re.compile(rb"\bdef[\s\\]+\w+[\s\\]*\(")
_BLOCK = 1 << 22

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
            start = file.read(4)
        if start[:2] == b"\x80\x02":
            raise ModelError("the file is a pickle, as PyTorch wrote before 1.6: %s" % _ADVICE)
        with zipfile.ZipFile(path) as archive:
            if start != _START:  # PyTorch goes by the first bytes, a zip archive's list is at its end
                raise ModelError("the file does not begin as PyTorch's do: refused")
            _refuse_ambiguous(archive)
            return _look(archive)
    except OSError as error:
        raise ModelError("the model file cannot be read: %s" % error)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, RuntimeError) as error:
        raise ModelError("the file is no PyTorch model, or only a part of one: %s" % error)


def _look(archive):
    names = {name.partition("/")[2]: name for name in archive.namelist()}
    if "model.json" in names:  # as PyTorch wrote it before 1.4, which finds code by whatever name that file says
        for name in archive.namelist():
            if _holds_code(archive, name):
                refuse_code(_text(archive, name, _MOST_CODE))
        return "torchscript"
    if "constants.pkl" in names and "data.pkl" in names:
        for name in archive.namelist():
            if name.lower().endswith(".py"):
                refuse_code(_text(archive, name, _MOST_CODE))
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


def _refuse_ambiguous(archive):
    """PyTorch's reader and Python's must see the same members: one list of them, and no name twice."""
    end = zipfile._EndRecData(archive.fp)
    if end is None or end[zipfile._ECD_OFFSET] != archive.start_dir:
        raise ModelError("the model file is two archives in one: refused")
    seen = set()
    for name in archive.namelist():
        plain = name.lower()
        if plain in seen:
            raise ModelError("the model file has `%s` twice: refused" % name[:80])
        seen.add(plain)


def _holds_code(archive, name):
    with archive.open(name) as file:
        last = b""
        while True:
            block = file.read(_BLOCK)
            if not block:
                return False
            if _DEFINES.search(last + block):
                return True
            last = block[-200:]


def _bytes(archive, name, most=_MOST_BYTES):
    if archive.getinfo(name).file_size > most:
        raise ModelError("`%s` in the model file is larger than any model's" % name)
    return archive.read(name)


def _text(archive, name, most=_MOST_BYTES):
    return _bytes(archive, name, most).decode("utf-8", "replace")


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
            elif key == "as_operator" or (key == "target" and "inputs" in value):
                # A signature's `target` is the name of a weight; a node's has a callable's name.
                if not _OPERATOR.match(each):
                    raise ModelError(
                        "the model file calls `%s`, which is no operator of PyTorch's: refused" % each[:80]
                    )
                refuse_operator(each)
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
