"""The service's clients, sync and async, from the declarations in palprep.api."""
