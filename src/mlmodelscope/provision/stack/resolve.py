"""Requirements locked with their companions of the same years, as far as that is possible.

Old packages seldom say with which releases of others they no longer work, so each companion is capped at a version that
is known to go with a neighbor. A cap that contradicts what a package demands of itself gives way.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping, Sequence

from mlmodelscope.provision.stack.lock import Lock, NoSolution, lock_requirements

_TRIES = 5


def lock_within(
    requirements: Sequence[str],
    python: str,
    caps: Mapping[str, str],
    *,
    only_wheels: bool = False,
    index_url: str | None = None,
    find_links: Sequence[str] = (),
) -> Lock:
    """Locked for this machine, no package newer than its cap; caps that stand in the way are dropped."""
    left = dict(caps)
    for attempt in range(_TRIES + 1):
        try:
            return lock_requirements(
                requirements,
                python,
                (platform.machine(),),
                constraints=[f"{name}<={version}" for name, version in left.items()],
                only_wheels=only_wheels,
                index_url=index_url,
                find_links=find_links,
            )
        except NoSolution as error:
            if not left:
                raise
            named = {name for name in left if _names(error.message, name)}
            stays = {name: version for name, version in left.items() if name not in named}
            left = stays if named and attempt < _TRIES - 1 else {}
    raise AssertionError("the last attempt has no caps")


def _names(complaint: str, package: str) -> bool:
    spelled = re.escape(package).replace(r"\-", "[-_.]").replace("_", "[-_.]")
    return re.search(rf"(?<![\w.-]){spelled}(?![\w-])", complaint, re.IGNORECASE) is not None
