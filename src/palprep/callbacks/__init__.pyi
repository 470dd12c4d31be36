from .server import (
    CallbackServer as CallbackServer,
    Delivery as Delivery,
    Sink as Sink,
    new_nonce as new_nonce,
)
