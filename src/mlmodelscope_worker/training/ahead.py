"""Values that are made ahead of the one who takes them, by threads, in their order."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor


def made_ahead(make, asked, ahead, pool):
    """`make` of each thing that is asked for; so many are under way before they are wanted. Without a pool, none."""
    if pool is None or ahead < 1:
        for each in asked:
            yield make(each)
        return
    waiting = deque()
    try:
        for each in asked:
            waiting.append(pool.submit(make, each))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for each in waiting:
            each.cancel()


def pool_of(workers, prefetch):
    return ThreadPoolExecutor(max_workers=workers) if prefetch else None
