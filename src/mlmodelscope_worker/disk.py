"""What a process has read and written, as Linux counts it, and how many files it holds. The host asks this, too."""

import os
import stat

_FIELDS = {
    "rchar": "asked_bytes",  # of files, pipes and sockets; most of it may come from memory
    "wchar": "passed_bytes",
    "read_bytes": "read_bytes",  # from a disk
    "write_bytes": "written_bytes",
    "syscr": "reads",
    "syscw": "writes",
}


def disk_use(pid="self", root="/"):
    """{name: number} since the process began; nothing where the kernel does not tell: another system, another user's
    process, or one that has ended."""
    found = {}
    try:
        with open(os.path.join(root, "proc", str(pid), "io")) as file:
            for line in file:
                name, _, value = line.partition(":")
                if name in _FIELDS and value.strip().isdigit():
                    found[_FIELDS[name]] = int(value)
    except (OSError, ValueError):
        return None
    return found if len(found) == len(_FIELDS) else None


def since(before, now, less=None):
    """What was read and written between two moments; without what looking itself reads."""
    less = less or {}
    return {name: max(0, now[name] - before[name] - less.get(name, 0)) for name in now}


def files_of(pid="self", root="/"):
    """How many files a process has open or mapped: its libraries, its model."""
    folder = os.path.join(root, "proc", str(pid))
    seen = set()
    try:
        with open(os.path.join(folder, "maps")) as file:
            for line in file:
                words = line.split(None, 5)
                if len(words) == 6 and words[5].startswith("/"):
                    seen.add((words[3], words[4]))
        opened = os.listdir(os.path.join(folder, "fd"))
    except (OSError, ValueError):
        return len(seen)
    for number in opened:
        try:
            found = os.stat(os.path.join(folder, "fd", number))
        except OSError:
            continue  # it was closed meanwhile
        if stat.S_ISREG(found.st_mode):
            device = "%02x:%02x" % (os.major(found.st_dev), os.minor(found.st_dev))
            seen.add((device, str(found.st_ino)))
    return len(seen)
