"""`trn addons` and `trn images`: the add-ons of a stack and their images."""
