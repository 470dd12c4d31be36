"""Facts about what an image or a frame shows: faces, pose, framing, quality, identity."""
