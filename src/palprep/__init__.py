"""Media preflight and asset preparation for conversational video agents."""

from palprep._version import __version__

__all__ = ["__version__"]
