"""Starts `trn`. Nothing is loaded before it can say what stopped it: Ctrl-C also comes while modules are loaded."""

import gc
import os
import signal
import sys
import warnings

GARBAGE = (50_000, 20, 20)
"""When Python looks for garbage in circles. By default after each 700 objects, of which the SDKs make a million as they are loaded and
none is garbage: a rehearsed change took a quarter longer (measured 2026-11: 3.5 s of processor time against 2.6)."""


def main() -> None:
    """Run `trn`."""
    gc.set_threshold(*GARBAGE)
    # The SDKs warn of classes of their own as they are loaded. With PYTHONWARNINGS=error that would end each command, and what it starts.
    warnings.simplefilter("ignore")
    os.environ.pop("PYTHONWARNINGS", None)
    try:
        from trn.app import main as run

        run()
    except KeyboardInterrupt:
        # The second one: the first ended the command, and this process is ending.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        from trn.cli.errors import INTERRUPTED, INTERRUPTION

        sys.stderr.write(INTERRUPTION)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
