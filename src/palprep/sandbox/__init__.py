"""The local service: the whole interface on a loopback socket, faults and time under control.

with Sandbox(clock="virtual") as sandbox:
    client = Client(api_key=sandbox.user_key, base_url=sandbox.url)
    ...
    sandbox.advance(60)
"""

from palprep.sandbox.choices import Choices
from palprep.sandbox.faults import FaultScript
from palprep.sandbox.judges import JudgeImage, Trainer, TrainingKind
from palprep.sandbox.keys import SERVICE_KEY, USER_KEY, ApiKey
from palprep.sandbox.recorder import Recording
from palprep.sandbox.sandbox import Sandbox, serve

__all__ = [
    "SERVICE_KEY",
    "USER_KEY",
    "ApiKey",
    "Choices",
    "FaultScript",
    "JudgeImage",
    "Recording",
    "Sandbox",
    "Trainer",
    "TrainingKind",
    "serve",
]
