from .content import Content as Content, Publisher as Publisher
from .publishers import (
    ObjectStorePublisher as ObjectStorePublisher,
    SandboxPublisher as SandboxPublisher,
    publisher_for as publisher_for,
    publisher_from_env as publisher_from_env,
)
