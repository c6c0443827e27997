"""`trn import`: a cluster that Terraform or eksctl made, taken over by a stack."""
