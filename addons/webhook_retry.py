"""Tries again when an object meets a webhook whose pods do not answer yet.

The Kubernetes provider retries an unknown kind but never a failed webhook call, so the first run would fail within a
second of the release being ready: its Service still has no endpoints then.
"""

import asyncio

import pulumi

FIRST_DELAY_S, LONGEST_DELAY_S, TRIES = 2, 15, 12
"""Together a little over two minutes; the engine itself stops at 100 tries."""


def retry_delay_s(operation: str, errors: list[str]) -> float | None:
    """Seconds to wait before the next try; None to give up. `errors`: all so far, newest first."""
    if operation != "create" or not errors or "failed calling webhook" not in errors[0] or len(errors) > TRIES:
        return None
    return min(FIRST_DELAY_S * 2 ** (len(errors) - 1), LONGEST_DELAY_S)


def retry_on_webhook(name: str) -> pulumi.ResourceHookBinding:
    """Hooks for `ResourceOptions`; `name` is unique in the program."""

    async def on_error(args: pulumi.ErrorHookArgs) -> bool:
        delay_s = retry_delay_s(args.failed_operation, list(args.errors))
        if delay_s is None:
            return False
        # Not time.sleep: the hook runs in the loop that registers all other resources.
        await asyncio.sleep(delay_s)
        return True

    return pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(name, on_error)])
