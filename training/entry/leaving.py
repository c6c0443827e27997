"""Ends a worker at once where its script fails: JAX would otherwise wait at its end for workers that are in a collective with it.

One of the files that every pod has under /trn: standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

from stop_request import STOPPED


def run(main: Callable[[list[str]], int]) -> None:
    """Runs a script and ends the process: in order after 0 and 75, at once after anything else.

    jax.distributed leaves by a barrier of all processes, which takes five minutes to give up (jax.distributed.initialize,
    shutdown_timeout_seconds); until then the entry script takes the worker for running, and its nodes for busy.
    """
    try:
        code: object = main(sys.argv[1:])
    except SystemExit as error:
        code = error.code if error.code is not None else 0
    except BaseException:
        traceback.print_exc()
        code = 1
    if code in (0, STOPPED):
        sys.exit(int(str(code)))
    if not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
