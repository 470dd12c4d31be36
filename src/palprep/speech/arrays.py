"""The kind of array that passes between the modules of this package."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
"""Samples, full scale at -1.0 and 1.0, of shape (samples,) or (channels, samples); or what was
worked out of them."""
