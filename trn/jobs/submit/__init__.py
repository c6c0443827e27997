"""`trn submit`: a job file becomes the objects of one launcher on one cluster."""
