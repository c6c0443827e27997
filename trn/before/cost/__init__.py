"""`trn cost`: what a stack costs, item by item."""
