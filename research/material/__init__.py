"""Which pictures models are fitted and judged on: sources, licences, labels."""
