"""What PyTorch's operators were told besides tensors: stride, padding, epsilon and the like, by the schema's names."""

_MOST = 64
"""Longer lists are weights."""


def told(schema, given, more=()):
    """{name: number, word or list of numbers} of a call. `given` are its arguments in order, None for what is not
    plain; what was left out has the schema's default."""
    found, more = {}, dict(more)
    for place, argument in enumerate(schema.arguments):
        value = (
            given[place] if place < len(given) else more.get(argument.name, getattr(argument, "default_value", None))
        )
        if _is_plain(value):
            found[argument.name] = list(value) if isinstance(value, (list, tuple)) else value
    return found


def _is_plain(value):
    if isinstance(value, (list, tuple)):
        return len(value) <= _MOST and all(
            not isinstance(each, (list, tuple, str)) and _is_plain(each) for each in value
        )
    if isinstance(value, float):
        return value - value == 0  # JSON has no words for what is not finite
    return isinstance(value, (bool, int, str))


def of_program(node):
    """Those of a node of an exported program; {} where its operator has no schema."""
    schema = getattr(node.target, "_schema", None)
    return {} if schema is None else told(schema, node.args, node.kwargs)


def of_script(torch, node):
    """Those of a node of TorchScript whose arguments are constants, or lists of constants."""
    try:
        schema = torch._C.parse_schema(node.schema())
    except (AttributeError, RuntimeError):  # no public way leads there; operators of TorchScript itself have none
        return {}
    return told(schema, [_constant(value) for value in node.inputs()])


def _constant(value):
    node = value.node()
    if node.kind() == "prim::ListConstruct":
        return [_constant(each) for each in node.inputs()]
    if node.kind() != "prim::Constant":
        return None
    return value.toIValue()
