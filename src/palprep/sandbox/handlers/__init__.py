"""What each endpoint does: one function per endpoint, by resource."""
