"""The handlers of endpoints, and the jobs that they schedule, by resource."""
