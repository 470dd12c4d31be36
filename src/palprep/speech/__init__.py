"""Facts about a sound: voice activity, loudness and noise, what was said."""
