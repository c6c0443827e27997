"""Commands around a real cluster: before `pulumi up`, while it runs, and after `pulumi destroy`."""
