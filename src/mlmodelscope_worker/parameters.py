"""How steps and predictors declare their parameters: the signature is the schema.

A declared function has keyword-only parameters whose annotation is one of the kinds below and whose default is
the default. The host turns the same declaration into validation, JSON Schema and documentation.
"""

import inspect
import sys

_LARGEST = sys.float_info.max


class ParameterError(ValueError):
    """A value that a parameter does not take; `parameter` says which one, `known` what it would take."""

    def __init__(self, message, parameter=None, known=(), hint=None, seen=None):
        ValueError.__init__(self, message)
        self.message = message
        self.parameter = parameter
        self.known = tuple(known)
        self.hint = hint
        self.seen = seen


class Kind(object):
    """What values a parameter takes, and one sentence on what it means.

    One that `needs_trust` lets code out of files run, or hands out what is the machine's.
    """

    needs_trust = False

    def __init__(self, meaning, needs_trust=False):
        self.meaning = meaning
        self.needs_trust = needs_trust

    def check(self, value):
        raise NotImplementedError

    def schema(self):
        raise NotImplementedError


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def _is_finite(value):
    return -_LARGEST <= value <= _LARGEST  # a Python integer may be larger than any float


class Choice(Kind):
    def __init__(self, meaning, *values):
        Kind.__init__(self, meaning)
        self.values = values

    def check(self, value):
        if isinstance(value, str):
            for known in self.values:
                if known.lower() == value.lower():
                    return known
        raise ParameterError("`%s` is not one of its values" % (value,), known=self.values, seen=value)

    def schema(self):
        return {"enum": list(self.values)}


class Number(Kind):
    def __init__(self, meaning, above=None, at_least=None, at_most=None):
        Kind.__init__(self, meaning)
        self.above, self.at_least, self.at_most = above, at_least, at_most

    def check(self, value):
        if not _is_number(value):
            raise ParameterError("expected a number, saw %s" % spell(value))
        if not _is_finite(value):
            raise ParameterError("expected a finite number, saw %s" % spell(value))
        if self.above is not None and not value > self.above:
            raise ParameterError("%s is not above %s" % (value, self.above))
        if self.at_least is not None and value < self.at_least:
            raise ParameterError("%s is below %s" % (value, self.at_least))
        if self.at_most is not None and value > self.at_most:
            raise ParameterError("%s is above %s" % (value, self.at_most))
        return float(value)

    def schema(self):
        rule = {"type": "number"}
        for key, bound in (
            ("exclusiveMinimum", self.above),
            ("minimum", self.at_least),
            ("maximum", self.at_most),
        ):
            if bound is not None:
                rule[key] = bound
        return rule


class Integer(Number):
    def check(self, value):
        Number.check(self, value)
        if int(value) != value:
            raise ParameterError("expected a whole number, saw %s" % value)
        return int(value)

    def schema(self):
        return dict(Number.schema(self), type="integer")


class Flag(Kind):
    def check(self, value):
        if not isinstance(value, bool):
            raise ParameterError("expected true or false, saw %s" % spell(value))
        return value

    def schema(self):
        return {"type": "boolean"}


class Text(Kind):
    def check(self, value):
        if not isinstance(value, str):
            raise ParameterError("expected text, saw %s" % spell(value))
        return value

    def schema(self):
        return {"type": "string"}


class File(Kind):
    """The name of one of the manifest's `files`; where it lies on this machine, when the step runs."""

    def check(self, value):
        if not isinstance(value, str):
            raise ParameterError("expected the name of one of the manifest's `files`, saw %s" % spell(value))
        return value

    def schema(self):
        return {"type": "string"}


class Mapping(Kind):
    """Words, each with a number or a word of its own."""

    def __init__(self, meaning, most=65536):
        Kind.__init__(self, meaning)
        self.most = most

    def check(self, value):
        if not isinstance(value, dict) or not value or len(value) > self.most:
            raise ParameterError("expected words with their values, saw %s" % spell(value))
        for each in value.values():
            if not isinstance(each, str) and not (_is_number(each) and _is_finite(each)):
                raise ParameterError("expected a number or a word for each, saw %s" % spell(each))
        return {str(key): each for key, each in value.items()}

    def schema(self):
        value = {"anyOf": [{"type": "string"}, {"type": "number"}]}
        return {"type": "object", "additionalProperties": value, "minProperties": 1, "maxProperties": self.most}


class Documents(Kind):
    """A list of documents: fields by name, of any shape that JSON has."""

    def __init__(self, meaning, most=1000):
        Kind.__init__(self, meaning)
        self.most = most

    def check(self, value):
        if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= self.most:
            raise ParameterError("expected a list of 1 to %d documents, saw %s" % (self.most, spell(value)))
        for each in value:
            if not isinstance(each, dict) or not each:
                raise ParameterError("expected documents with named fields, saw %s" % spell(each))
        return [_plain_data(each, 0) for each in value]

    def schema(self):
        return {"type": "array", "items": {"type": "object", "minProperties": 1}, "minItems": 1, "maxItems": self.most}


def _plain_data(value, depth):
    """Data as JSON has it, without what its reader knows beside."""
    if depth > 32:
        raise ParameterError("it is nested deeper than 32 levels")
    if isinstance(value, dict):
        return {str(key): _plain_data(each, depth + 1) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_data(each, depth + 1) for each in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not _is_number(value) or not _is_finite(value):
            raise ParameterError("expected a finite number, saw %s" % spell(value))
        return float(value)
    if isinstance(value, str):
        return str(value)
    raise ParameterError("expected texts and numbers, saw %s" % spell(value))


class Names(Kind):
    """A list of names."""

    def __init__(self, meaning, most=65536):
        Kind.__init__(self, meaning)
        self.most = most

    def check(self, value):
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, (list, tuple)) or not 1 <= len(names) <= self.most:
            raise ParameterError("expected a list of names, saw %s" % spell(value))
        if not all(isinstance(each, str) for each in names):
            raise ParameterError("expected a list of names, saw %s" % spell(value))
        return list(names)

    def schema(self):
        name = {"type": "string"}
        return {"anyOf": [name, {"type": "array", "items": name, "minItems": 1, "maxItems": self.most}]}


class PerChannel(Kind):
    """One number for all channels, or a list with one number for each."""

    def __init__(self, meaning, nonzero=False):
        Kind.__init__(self, meaning)
        self.nonzero = nonzero

    def check(self, value):
        values = value if isinstance(value, (list, tuple)) else [value]
        if not values or len(values) > 4 or not all(_is_number(each) and _is_finite(each) for each in values):
            raise ParameterError("expected a number or a list of up to four numbers, saw %s" % spell(value))
        if self.nonzero and any(each == 0 for each in values):
            raise ParameterError("a divisor cannot be 0")
        numbers = [float(each) for each in values]
        return numbers if isinstance(value, (list, tuple)) else numbers[0]

    def schema(self):
        number = {"type": "number", "not": {"const": 0}} if self.nonzero else {"type": "number"}
        return {"anyOf": [number, {"type": "array", "items": number, "minItems": 1, "maxItems": 4}]}


class Numbers(Kind):
    """A list of numbers."""

    def __init__(self, meaning, least=1, most=4096, multiple=1):
        Kind.__init__(self, meaning)
        self.least, self.most, self.multiple = least, most, multiple

    def check(self, value):
        is_list = isinstance(value, (list, tuple)) and self.least <= len(value) <= self.most
        if not is_list or not all(_is_number(each) and _is_finite(each) for each in value):
            raise ParameterError("expected a list of %d to %d numbers, saw %s" % (self.least, self.most, spell(value)))
        if len(value) % self.multiple:
            raise ParameterError("expected a multiple of %d numbers, saw %d" % (self.multiple, len(value)))
        return [float(each) for each in value]

    def schema(self):
        return {"type": "array", "items": {"type": "number"}, "minItems": self.least, "maxItems": self.most}


class Words(Kind):
    """A list of known words, or one of them."""

    def __init__(self, meaning, *values):
        Kind.__init__(self, meaning)
        self.values = values
        self._each = Choice(meaning, *values)

    def check(self, value):
        words = value if isinstance(value, (list, tuple)) else [value]
        if not 1 <= len(words) <= 16:
            raise ParameterError("expected a list of 1 to 16 words, saw %s" % spell(value), known=self._each.values)
        return [self._each.check(each) for each in words]

    def schema(self):
        word = self._each.schema()
        return {"anyOf": [word, {"type": "array", "items": word, "minItems": 1, "maxItems": 16}]}


class Dimensions(Kind):
    """`[height, width]`, `[channels, height, width]` or one number for a square; always becomes `[height, width]`."""

    def check(self, value):
        sizes = list(value) if isinstance(value, (list, tuple)) else [value, value]
        whole = all(_is_number(size) and 0 < size <= 65535 and int(size) == size for size in sizes)
        if not whole or len(sizes) not in (2, 3):
            raise ParameterError(
                "expected [height, width], [channels, height, width] or one number, saw %s" % spell(value)
            )
        if len(sizes) == 3:
            if sizes[0] in (1, 3):
                sizes = sizes[1:]
            elif sizes[2] in (1, 3):
                sizes = sizes[:2]
            else:
                raise ParameterError("neither end of %s is a number of channels (1 or 3)" % spell(value))
        return [int(size) for size in sizes]

    def schema(self):
        size, channels = {"type": "integer", "minimum": 1, "maximum": 65535}, {"enum": [1, 3]}
        lists = [[size, size], [channels, size, size], [size, size, channels]]
        return {
            "anyOf": [size]
            + [
                {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
                for items in lists
            ]
        }


def spell(value):
    """A value as an author would recognise it, cut to a line."""
    if value is None:
        return "nothing"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _not_a_kind(function, parameter):
    what = "the parameter `%s` of `%s` is annotated with %r" % (
        parameter.name,
        function.__name__,
        parameter.annotation,
    )
    if parameter.annotation is inspect.Parameter.empty:
        what = "the parameter `%s` of `%s` has no annotation" % (parameter.name, function.__name__)
    if isinstance(parameter.annotation, str):
        return what + ", a text: leave out `from __future__ import annotations`"
    return what + ", where a kind such as Number(...) is due"


class Declaration(object):
    """A declared function: its name, one line of purpose, its parameters with kinds and defaults."""

    def __init__(self, function, main=None, settle=None, rules=()):
        if not callable(function) or not hasattr(function, "__name__"):
            raise TypeError("%s is not a function with a name" % spell(function))
        self.function = function
        self.name = function.__name__
        self.meaning = (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")
        self.main = main
        self.settle = settle
        self.rules = list(rules)
        self.kinds = {}
        self.defaults = {}
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                if not isinstance(parameter.annotation, Kind):
                    raise TypeError(_not_a_kind(function, parameter))
                self.kinds[parameter.name] = parameter.annotation
                default = parameter.default
                self.defaults[parameter.name] = list(default) if isinstance(default, tuple) else default
        if main is not None and main not in self.kinds:
            raise TypeError("`%s` of `%s` is not one of its parameters" % (main, self.name))

    def code(self):
        return self.function

    def options_that_need_trust(self):
        return sorted(name for name, kind in self.kinds.items() if kind.needs_trust)

    def resolve(self, value):
        """Everything this function will be called with, every default explicit; ParameterError when it cannot."""
        if value is None:
            value = {}
        if not isinstance(value, dict):
            if self.main is None:
                raise ParameterError("expected a mapping of parameters, saw %s" % spell(value), known=self.kinds)
            value = {self.main: value}
        resolved = dict(self.defaults)
        for name, given in value.items():
            if name not in self.kinds:
                raise ParameterError(
                    "unknown parameter `%s`" % (name,),
                    parameter=str(name),
                    known=sorted(self.kinds),
                    seen=name,
                )
            try:
                resolved[name] = None if given is None else self.kinds[name].check(given)
            except ParameterError as error:
                error.parameter = name
                raise
        for name, given in resolved.items():
            if given is inspect.Parameter.empty or (given is None and self.defaults[name] is not None):
                raise ParameterError("`%s` is required" % name, parameter=name)
        if self.settle is not None:
            resolved = self.settle(dict(resolved))
        return resolved

    def _may_be_bare(self):
        try:
            self.resolve(None)
        except ParameterError:
            return False
        return True

    def schema(self):
        """JSON Schema of what an author may write for this function."""
        properties = {}
        for name, kind in self.kinds.items():
            rule = dict(kind.schema(), description=kind.meaning)
            default = self.defaults[name]
            if default is not inspect.Parameter.empty and default is not None:
                rule["default"] = default
            properties[name] = rule
        required = [name for name, default in self.defaults.items() if default is inspect.Parameter.empty]
        mapping = {"type": "object", "properties": properties, "additionalProperties": False}
        if required:
            mapping["required"] = required
        if self.rules:
            mapping["allOf"] = self.rules
        forms = [mapping]
        if self._may_be_bare():
            forms.append({"type": "null"})
        if self.main is not None:
            forms.append(self.kinds[self.main].schema())
        rule = {"anyOf": forms} if len(forms) > 1 else mapping
        return dict(rule, description=self.meaning)
