"""Things by name. Built-in ones and those of other packages are added in the same way."""


def itself(thing):
    return thing


def add(registry, name, thing, code=itself):
    """Add a thing under a name; `code` gives the function or class that a thing was made from.

    A name is taken once: what it means must not depend on who came last. Only a module that is imported again may
    replace what it added itself.
    """
    taken = registry.get(name)
    if taken is not None and place_of(code(taken)) != place_of(code(thing)):
        raise ValueError("the name `%s` is taken by %s" % (name, place_of(code(taken))))
    registry[name] = thing


def place_of(code):
    """Module and name of a function or class, as an import would spell it."""
    named = code if hasattr(code, "__qualname__") else type(code)
    return "%s.%s" % (named.__module__, named.__qualname__)
