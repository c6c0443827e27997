"""IAM documents of the add-ons' identities, one file per purpose."""
