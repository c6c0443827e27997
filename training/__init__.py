"""Training jobs as data: job file, pod, and what each launcher makes of them."""
