"""How often palprep is right: the figures of docs/accuracy.md."""
