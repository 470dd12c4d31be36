"""Fits the models that palprep ships, and makes the examples that they are fitted on."""
