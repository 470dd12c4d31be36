"""For other people's tests: a pytest plugin that serves a sandbox and clients of it."""
