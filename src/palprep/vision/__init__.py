"""Facts about a picture: faces, pose, framing, quality, identity."""
