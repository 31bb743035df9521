"""Where the numbers of an HDF5 file lie: inside it. The format lets parts be in any other file."""

from .predictor import ModelError

_MOST = 1 << 20
"""Groups and datasets; the largest models have some ten thousand."""


def refuse_outside(h5py, file):
    """ModelError where something in an open file is in another one."""
    left, seen = [(file, "")], set()
    while left:
        group, path = left.pop()
        address = h5py.h5o.get_info(group.id).addr
        if address in seen:  # a group may be inside of itself
            continue
        seen.add(address)
        if len(seen) > _MOST:
            raise ModelError("the HDF5 file has more groups than any model's: refused")
        for name in group:
            if isinstance(group.get(name, getlink=True), h5py.ExternalLink):
                _refuse(path + "/" + name)
            inner = group.get(name)
            if isinstance(inner, h5py.Group):
                left.append((inner, path + "/" + name))
            elif isinstance(inner, h5py.Dataset) and (inner.external or getattr(inner, "is_virtual", False)):
                _refuse(path + "/" + name)


def _refuse(place):
    raise ModelError("the HDF5 file says that `%s` is in another file: refused" % place[:200])
