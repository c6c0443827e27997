"""What others made and a stack uses: described from an account or a file, and stood in for where nothing is known of it."""
