"""Where boto3 ends: one account, the region that it is looked at from, and a session of boto3 whose clients end in it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from simulator.account.world import World
from simulator.aws_endpoint import declared
from simulator.aws_endpoint.billing import Billing
from simulator.aws_endpoint.buckets import Buckets
from simulator.aws_endpoint.capacity import Capacity
from simulator.aws_endpoint.ec2 import Ec2
from simulator.aws_endpoint.eks import Eks
from simulator.aws_endpoint.inventory import Delays, Inventory
from simulator.aws_endpoint.log_groups import LogGroups
from simulator.aws_endpoint.messages import Messages
from simulator.aws_endpoint.repositories import Repositories
from simulator.aws_endpoint.repository_tasks import RepositoryTasks
from simulator.aws_endpoint.schedules import Schedules
from simulator.aws_endpoint.services import Services
from simulator.aws_endpoint.surroundings import Surroundings
from simulator.aws_endpoint.wire import Wire, WireSession


@dataclass
class Options:
    """How the account answers."""

    region: str = "us-west-2"
    page_size: int = 2
    delays: Delays = field(default_factory=Delays)
    ignores_filters: bool = False
    """Whether lists answer with everything: then only the caller's own checks keep it from objects that are not the cluster's."""
    surroundings: Surroundings | None = None
    """Without them, the region as the catalogue knows it."""
    after_call: Callable[[str], None] = lambda _operation: None
    """Called after each answered call: an account that is kept on disk is written then."""


def wire(world: World, options: Options | None = None) -> Wire:
    """Handlers of every call that `trn` makes, over one account."""
    given = options or Options()
    inventory = Inventory(world, given.region, given.delays)
    around = given.surroundings or Surroundings.of_region(given.region, world.state.allowances)
    handlers = dict(declared.handlers(inventory, ignores_filters=given.ignores_filters))
    handlers |= dict(around.handlers(given.region))
    handlers |= dict(Capacity(around, world, given.region).handlers())
    handlers |= dict(Ec2(inventory, caller=around.caller, ignores_filters=given.ignores_filters).handlers())
    handlers |= dict(Eks(inventory).handlers())
    services = Services(inventory, caller_role=around.role_arn, ignores_filters=given.ignores_filters)
    handlers |= dict(services.handlers())
    handlers["ssm.GetParameter"] = lambda asked: services.parameter(asked) or around.recommended_release(asked)
    handlers |= dict(LogGroups(inventory, ignores_filters=given.ignores_filters).handlers())
    handlers |= dict(Schedules(inventory).handlers())
    handlers |= dict(Messages(inventory, ignores_filters=given.ignores_filters).handlers())
    handlers |= dict(Billing(inventory).handlers())
    handlers |= dict(Repositories(inventory).handlers())
    handlers |= dict(Buckets(inventory).handlers())
    handlers |= dict(RepositoryTasks(inventory).handlers())
    return Wire(handlers, page_size=given.page_size, after_call=given.after_call)


def session(world: World, options: Options | None = None) -> WireSession:
    """In place of a boto3 session, for `trn.aws.api.BotoApi` and all other code that takes one."""
    return wire(world, options).session()
