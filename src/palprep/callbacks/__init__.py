"""Receives the service's callbacks on a secret address."""
