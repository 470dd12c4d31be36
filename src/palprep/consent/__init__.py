"""Facts about a spoken consent statement: what must be said, and what was heard."""
