"""`make train-demo`: a training that loses a worker and resumes, with nothing but this machine."""
