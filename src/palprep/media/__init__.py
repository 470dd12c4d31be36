"""Facts about a file: what it is, and what its headers, packets and samples say."""
