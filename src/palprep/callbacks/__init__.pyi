from .server import (
    CallbackServer as CallbackServer,
    Delivery as Delivery,
    PublicCallbacks as PublicCallbacks,
    callback_app as callback_app,
    new_nonce as new_nonce,
)
