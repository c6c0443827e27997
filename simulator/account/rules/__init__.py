"""What a rule of the account checks: one module per subject. `simulator.account.judge` asks them in order."""
