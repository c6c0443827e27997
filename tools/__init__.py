"""What only makers of this project run."""
