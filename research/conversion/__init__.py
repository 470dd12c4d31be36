"""Makes the shipped weights again from the packages that they come from."""
