"""The local service: the whole interface on a loopback socket, faults and time under control.

with Sandbox(clock="virtual") as sandbox:
    client = Client(api_key=sandbox.user_key, base_url=sandbox.url)
    ...
    sandbox.advance(60)
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
