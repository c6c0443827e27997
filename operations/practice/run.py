"""`trn practice up` and `down`: a stack brought up in its practice account, and taken down."""
