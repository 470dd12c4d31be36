from .weights import (
    Weights as Weights,
    load_network as load_network,
    open_network as open_network,
    read_manifest as read_manifest,
)
