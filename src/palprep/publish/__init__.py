"""A prepared file becomes a URL that the service can fetch."""
