"""Steps at the service: validate a face, make a voice, make a replica."""
