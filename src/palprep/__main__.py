"""``python -m palprep``: the command line, where its script is not on the PATH."""

from palprep.cli import main

main()
