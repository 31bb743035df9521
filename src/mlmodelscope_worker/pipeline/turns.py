"""The turns of a conversation that a document holds: what was said so far, and what is asked now."""

from .value import SampleError

ROLES = ("system", "user", "assistant")
MOST_TURNS = 1000


def turns_in(fields, name):
    """(what the system says, the turns before the last one, the last one's text), out of a field of a document."""
    listed = fields.get(name)
    if not isinstance(listed, (list, tuple)) or not 1 <= len(listed) <= MOST_TURNS:
        raise SampleError("`%s` is not a list of 1 to %d turns" % (name, MOST_TURNS))
    for each in listed:
        if not isinstance(each, dict) or each.get("role") not in ROLES or not isinstance(each.get("content"), str):
            raise SampleError("a turn has a `role` (%s) and a `content`, not %.60r" % (", ".join(ROLES), each))
    said = [{"role": each["role"], "content": each["content"]} for each in listed]
    system = said.pop(0)["content"] if said[0]["role"] == "system" else ""
    if not said or said[-1]["role"] != "user":
        raise SampleError("the last turn is what a user asks")
    return system, said[:-1], said[-1]["content"]
