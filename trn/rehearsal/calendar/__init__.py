"""`trn rehearse calendar`: days of a cluster whose groups go up and down by capacity blocks and schedules."""
