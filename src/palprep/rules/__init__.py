"""Judgement: pure functions from facts to a report, and from a report to a plan."""
