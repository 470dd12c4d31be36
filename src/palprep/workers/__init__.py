"""Worker processes: what opens strangers' files does so here, within limits.

The processes are palprep's own, on top of `subprocess` and a socket. Other pools do not
suffice. concurrent.futures knows no time limit. pebble knows one, but a program that a task has run
outlives the task that is killed, an error that cannot be read stops all workers, a task can say
nothing while it runs (how much of a fix is done), and memory is left to the system's limits: under
RLIMIT_DATA, Pillow calls a large picture damaged. Both unpickle what a worker sends, so that code
in a decoder becomes code in the process that asked; and neither keeps a worker from files and
network.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
