"""What the work at files is done by: processes of this machine, or the workers of a cluster."""
