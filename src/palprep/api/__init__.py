"""The service's HTTP contract as declarations. No input or output happens here."""
