from .weights import (
    Weights as Weights,
    open_network as open_network,
    read_manifest as read_manifest,
)
