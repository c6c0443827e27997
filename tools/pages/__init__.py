"""Makes the pages under docs/ that come from the code."""
