"""Training jobs as data: the job file, the pod of every launcher, and what each launcher makes of a job."""
