"""`trn jobs`: jobs of all kinds in one table, and what `trn why`, `trn cancel` and `trn watch` know of one."""
