"""The lock of a cluster, held within a block, as a change holds it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from trn.aws.api import Api
from trn.aws.lock import Holder, Lock


@contextmanager
def locked(
    api: Api, cluster: str, holder: Holder, tell: Callable[[str], None] = lambda line: None, *, break_lock: bool = False
) -> Iterator[Lock]:
    """Taken before the block, given up after it."""
    lock = Lock(api, cluster, holder)
    try:
        lock.take(tell, break_lock=break_lock)
        yield lock
    finally:
        lock.release()
