"""`trn capacity`: finds instances that are scarce, buys a capacity block, and shows blocks beside the jobs that they are for."""
