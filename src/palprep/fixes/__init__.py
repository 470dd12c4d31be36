"""Transforms: a plan applied to a file gives a new file."""
