"""Pure data and functions about the hardware: no Pulumi, no boto3, no clock, no network."""
