"""Training, conversion, evaluation and attacks: what palprep's figures and weights come from.

Run a module from the checkout: ``uv run --all-groups -m research.hostile.fuzz``.
"""
