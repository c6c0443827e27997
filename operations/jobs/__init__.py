"""Commands around training jobs."""
