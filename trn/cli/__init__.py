"""Words, options, terminal, errors, files: knows no command."""
