from .protocol import (
    BodyTooLarge as BodyTooLarge,
    ImpatientProtocol as ImpatientProtocol,
    read_body as read_body,
)
from .server import (
    ServerThread as ServerThread,
    listening_socket as listening_socket,
    until_signalled as until_signalled,
    url_of as url_of,
)
