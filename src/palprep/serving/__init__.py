"""An ASGI application on a socket of its own, in a thread."""
