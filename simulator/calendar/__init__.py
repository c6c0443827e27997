"""Days of a cluster in the virtual clock: groups that go up and down by the calendar, and a job that runs on them."""
