"""What each endpoint does, and the jobs that follow from it, by resource."""
