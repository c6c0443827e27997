"""What a job costs while it runs, by list prices."""

from dataclasses import dataclass

from training.duration import seconds
from training.plan import Plan


@dataclass(frozen=True)
class JobCost:
    """Of the nodes alone; the cluster's own bill runs beside it."""

    usd_per_hour: float | None
    """None where EC2 sells no on-demand hours of the type and no block was seen."""
    usd_at_most: float | None
    """Until the time limit; None without a limit or a price."""

    @property
    def text(self) -> str:
        """In a sentence, without its full stop."""
        if self.usd_per_hour is None:
            return "no list price is known for its nodes"
        most = f", {self.usd_at_most:,.2f} USD until its time limit" if self.usd_at_most is not None else ", without a time limit"
        return f"its nodes cost {self.usd_per_hour:.2f} USD an hour{most}"


def cost_of(plan: Plan) -> JobCost:
    """Cost of a job, with its part of the nodes where it does not take whole ones."""
    instance = plan.nodes.instance
    price = instance.price_usd_per_hour if instance.price_usd_per_hour is not None else instance.block_price_usd_per_hour
    if price is None:
        return JobCost(None, None)
    part = plan.chip_count / instance.chip_count if plan.chip_count else plan.share.cpu_millis / (1000 * instance.vcpu_count)
    hourly = price * plan.job.nodes * part
    limit = plan.job.time_limit
    return JobCost(hourly, hourly * seconds(limit) / 3600 if limit is not None else None)
