"""`trn data`: a data set on its way to the file system, and checkpoints on their way to S3."""
