"""LightGBM's text form of a model, looked through before LightGBM reads it.

LightGBM trusts the numbers in the file: a child that is no node is a place in memory that it reads, and one that leads
back to its parent is a walk without an end.
"""

_MOST_LEAVES = 1 << 22
_MOST_FEATURES = 1 << 24
_IS_CATEGORY = 1
"""The bit of a decision that asks for one of some categories."""


def check_model(text):
    """How many features a model takes; ValueError where it is none, or not whole."""
    head, found, rest = text.partition("\nend of trees")
    if not text.startswith("tree\n") or not found:
        raise ValueError("it is not LightGBM's text form of a model, or it is cut off")
    start, *trees = head.split("\nTree=")
    told = _fields(start)
    if told.get("version") in ("v3", "v4") and "\nend of parameters" not in rest:
        raise ValueError("it is cut off")
    features = _integer(told, "max_feature_idx", _MOST_FEATURES) + 1
    each_time = _integer(told, "num_tree_per_iteration", 1 << 20)
    if each_time < 1 or len(trees) % each_time:
        raise ValueError("%d trees do not go into rounds of %d" % (len(trees), each_time))
    sizes = told.get("tree_sizes")
    if sizes is not None and len(sizes.split()) != len(trees):
        raise ValueError("it has %d trees and says %d" % (len(trees), len(sizes.split())))
    for number, tree in enumerate(trees):
        try:
            _check_tree(_fields(tree), features)
        except ValueError as error:
            raise ValueError("tree %d: %s" % (number, error))
    return features


def _fields(text):
    """key=value, a line each."""
    return dict(line.split("=", 1) for line in text.split("\n") if "=" in line)


def _integer(fields, name, most):
    if name not in fields:
        raise ValueError("it has no `%s`" % name)
    value = int(fields[name])
    if not 0 <= value <= most:
        raise ValueError("`%s` is %d" % (name, value))
    return value


def _numbers(fields, name, count, kind=int):
    values = [kind(each) for each in fields.get(name, "").split()]
    if len(values) != count:
        raise ValueError("`%s` has %d numbers, not %d" % (name, len(values), count))
    return values


def _check_tree(fields, features):
    leaves = _integer(fields, "num_leaves", _MOST_LEAVES)
    if leaves < 1:
        raise ValueError("it has no leaves")
    if _integer(dict(fields, is_linear=fields.get("is_linear", "0")), "is_linear", 1):
        raise ValueError("linear trees are not supported")
    _numbers(fields, "leaf_value", leaves, float)
    nodes = leaves - 1
    if not nodes:
        return
    thresholds = _numbers(fields, "threshold", nodes, float)
    decisions = _numbers(fields, "decision_type", nodes)
    if any(not 0 <= each < features for each in _numbers(fields, "split_feature", nodes)):
        raise ValueError("a node asks for a feature that is not there")
    for name in ("left_child", "right_child"):
        for node, child in enumerate(_numbers(fields, name, nodes)):
            if not (node < child < nodes or -leaves <= child < 0):
                raise ValueError("`%s` of node %d is %d, neither a later node nor a leaf" % (name, node, child))
    _check_categories(fields, [each for each, kind in zip(thresholds, decisions) if kind & _IS_CATEGORY])


def _check_categories(fields, thresholds):
    """What a category is looked up by: the number of a piece of a list of bits."""
    count = _integer(dict(fields, num_cat=fields.get("num_cat", "0")), "num_cat", _MOST_LEAVES)
    if count:
        bounds = _numbers(fields, "cat_boundaries", count + 1)
        words = len(fields.get("cat_threshold", "").split())
        if bounds[0] != 0 or bounds[-1] != words or any(one > two for one, two in zip(bounds, bounds[1:])):
            raise ValueError("`cat_boundaries` do not fit `cat_threshold`")
    if any(not (0 <= each < count and each == int(each)) for each in thresholds):
        raise ValueError("a node asks for categories that are not there")
