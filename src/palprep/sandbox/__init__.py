"""The service on loopback: real routes, a real store, a clock under control."""
