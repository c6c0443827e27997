"""What a rehearsal comes to: the report, the page and its pictures."""
