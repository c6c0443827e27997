"""The program's own registrations, taken in place of Pulumi's engine: in unit tests and rehearsals."""
