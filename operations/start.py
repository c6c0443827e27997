"""Starts `trn`. Nothing is loaded before it can say what stopped it: Ctrl-C also comes while modules are loaded."""

import signal
import sys


def main() -> None:
    """Run `trn`."""
    try:
        from operations.cli import main as run

        run()
    except KeyboardInterrupt:
        # The second one: the first ended the command, and this process is ending.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        from operations.errors import INTERRUPTED, INTERRUPTION

        sys.stderr.write(INTERRUPTION)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
