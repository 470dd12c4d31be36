"""From a report to the smallest fix: plans as values, one module a medium."""
