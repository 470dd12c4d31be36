"""The command line: arguments, printing, exit codes."""

import sys

__all__ = ["main"]


def main() -> None:
    # Loading takes long enough for a Ctrl-C.
    try:
        from palprep.cli.app import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()
