"""The command line: arguments, printing, exit codes."""

from palprep.cli.app import main

__all__ = ["main"]
