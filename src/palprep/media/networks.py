"""Networks run by ONNX Runtime: the one place that opens them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

_SILENT = 4
"""Severity from which ONNX Runtime writes lines of its own: what goes wrong it raises as well."""


def open_network(model: Path | bytes) -> Any:
    """A session of ONNX Runtime for one network, in its file or as its content. Threads may share
    it.

    Each run takes one thread: those who measure run several networks at once, and as many
    processes as there are processors measure files.
    """
    # Said before the import. That alone lets ONNX Runtime 1.31 write an id of this machine into the
    # user's cache, and tell Microsoft of the process (Privacy.md in its package).
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime  # noqa: PLC0415 - it takes long to load, and not every reading needs it

    # Of the whole process: it looks for graphics cards at the first session, and complains.
    # Its builds for Windows would tell Microsoft of each session.
    onnxruntime.set_default_logger_severity(_SILENT)
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    # What a run has taken is given back: less memory between runs, at no cost in time.
    options.enable_cpu_mem_arena = False
    # Weights of 8 bits are worked out once, when they are loaded, and not in every run.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    options.log_severity_level = _SILENT
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
