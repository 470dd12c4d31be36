"""The evidence of consent as files: a chain of entries that is only ever added to."""
