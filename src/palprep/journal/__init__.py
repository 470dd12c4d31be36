"""What a run has done, entry by entry, so that nothing is created twice."""
