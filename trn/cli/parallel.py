"""Work side by side, each piece with a time limit: one that gives no answer holds up no other."""

import contextvars
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def in_time(work: Callable[[], T], patience_s: float) -> T:
    """What some work gives. Raises TimeoutError after the time: the work is then left alone, in a thread that ends with the process.

    Raises what the work raises. Ctrl-C ends the wait at once.
    """
    context, made, raised = contextvars.copy_context(), list[Any](), list[BaseException]()

    def run() -> None:
        try:
            made.append(context.run(work))
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(patience_s)
    if raised:
        raise raised[0]
    if not made:
        raise TimeoutError(f"no answer in {patience_s:g} s")
    return made[0]


def side_by_side(works: Mapping[str, Callable[[], T]], patience_s: float) -> dict[str, T | Exception]:
    """What each piece of work gives, or what it raised, in their order; TimeoutError for one that took longer than its time."""

    def settled(work: Callable[[], T]) -> T | Exception:
        try:
            return in_time(work, patience_s)
        except Exception as error:
            return error

    if not works:
        return {}
    contexts = [contextvars.copy_context() for _ in works]
    with ThreadPoolExecutor(len(works)) as pool:
        answers = pool.map(lambda pair: pair[0].run(settled, pair[1]), zip(contexts, works.values(), strict=True))
        return dict(zip(works, answers, strict=True))
