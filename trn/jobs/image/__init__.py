"""`trn image`: the image of a job, built by a container tool or pushed as one more layer without any."""
