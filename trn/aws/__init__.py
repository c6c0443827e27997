"""What `trn` asks of AWS, one module per concern. Everything goes through the two methods of `api.Api`."""
