"""Who the people of a run are: a folder, a part of a bucket, or a manifest becomes people."""
