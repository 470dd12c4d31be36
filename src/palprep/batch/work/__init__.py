"""One person's way from files to a voice and a replica, and the waiting for both."""
