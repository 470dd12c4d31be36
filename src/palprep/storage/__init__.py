"""Objects in the buckets of Amazon S3, Google Cloud Storage and Azure Blob Storage."""
