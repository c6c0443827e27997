"""Training jobs: files, images, data, and what becomes of them."""
