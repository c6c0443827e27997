"""AWS answered in process, call by call: real boto3 clients, no network, and no answer that the service could not give.

Parameters and answers are validated against the operation's shapes, as botocore does it for parameters, so that neither
callers nor the account can drift from the API. Lists are cut into pages, so that code which reads one page fails.
"""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, ClassVar

import boto3
import botocore.session
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import DataNotFoundError
from botocore.utils import parse_timestamp
from botocore.validate import validate_parameters

Entry = dict[str, Any]
Handler = Callable[[Entry], Entry]
_PARAMETERS = "trn-parameters"
_ONE_AT_A_TIME = threading.RLock()
"""Several wires may lead into one account, which answers one call after the other."""
SESSION = botocore.session.Session()
"""The only one of the process: each session loads the models of services for itself, EC2's alone are 35 MB and 0.15 s (measured 2026-11)."""


class Refused(Exception):
    """Raised by a handler: the service refuses the request."""

    def __init__(self, code: str, message: str = "refused", status: int = 400) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.status = code, message, status


@dataclass
class Wire:
    """Handlers by `service.Operation`, in boto3's name of the service and the API's spelling of the operation."""

    handlers: dict[str, Handler] = field(default_factory=dict)
    page_size: int = 2
    """Entries on each page of a list that has pages."""
    calls: list[tuple[str, Entry]] = field(default_factory=list)
    """Every call made, with its parameters."""
    faults: dict[str, list[Exception]] = field(default_factory=dict)
    """Raised instead of an answer, one per call, first to last: a throttled call, an expired token."""
    denied: set[str] = field(default_factory=set)
    """Operations that always answer AccessDenied."""
    after_call: Callable[[str], None] = lambda _name: None
    """Called with each operation that was answered: an account that is kept on disk is written then."""

    def session(self) -> "WireSession":
        """A session whose clients end here."""
        return WireSession(self)

    def count(self) -> Counter[str]:
        """How often each operation was called."""
        return Counter(name for name, _ in self.calls)

    def answer(self, model: Any, context: Entry, **_: Any) -> tuple[AWSResponse, Entry]:
        """What botocore takes instead of an HTTP response: the response and the parsed answer."""
        name = f"{_client_name(model)}.{model.name}"
        parameters = context[_PARAMETERS]
        self.calls.append((name, parameters))
        with _ONE_AT_A_TIME:
            try:
                answer = _one_page(name, self._answered(name, parameters), parameters, self.page_size)
            except Refused as refusal:
                parsed = {
                    "Error": {"Code": refusal.code, "Message": refusal.message},
                    "ResponseMetadata": {"HTTPStatusCode": refusal.status},
                }
                return AWSResponse("https://simulated", refusal.status, {}, None), parsed
            self.after_call(name)
        if model.output_shape is not None:
            _check(model, model.output_shape, answer)
            answer = _as_parsed(answer, model.output_shape)
        return AWSResponse("https://simulated", 200, {}, None), {**answer, "ResponseMetadata": {}}

    def _answered(self, name: str, parameters: Entry) -> Entry:
        if name in self.denied:
            raise Refused("AccessDeniedException", f"User is not authorized to perform: {name}", 403)
        if self.faults.get(name):
            raise self.faults[name].pop(0)
        assert name in self.handlers, f"the simulated account does not answer {name}"
        return self.handlers[name](parameters)


class WireSession:
    """In place of a boto3 session. Its clients are boto3's own, shared by all wires."""

    _clients: ClassVar[dict[tuple[str, str, str], Any]] = {}
    _current: ClassVar[threading.local] = threading.local()
    """The wire of the call that this thread makes: regions are asked side by side."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def client(self, service: str, region_name: str, config: Any = None) -> "_Client":
        """A client whose calls end at the wire."""
        # Without it botocore puts its user agent together for each call: a fifth of a call that never leaves the process.
        own = Config(user_agent="trn", parameter_validation=False)
        config = own if config is None else config.merge(own)
        key = (service, region_name, repr(sorted(vars(config).items())))
        # A session makes one client at a time; regions are asked side by side.
        with _ONE_AT_A_TIME:
            if key not in self._clients:
                client = _simulated().client(service, region_name=region_name, config=config)
                if service != "s3":
                    # No call leaves the process: where it would be sent, worked out anew for each, is a fifth of its time. S3 signs links by it.
                    client._ruleset_resolver = None
                self._clients[key] = client
        return _Client(self._wire, self._clients[key])


@cache
def _simulated() -> boto3.Session:
    """The session as boto3's, whose clients ask the current wire."""
    session = boto3.Session(aws_access_key_id="AKIAEXAMPLE", aws_secret_access_key="example", botocore_session=SESSION)
    session.events.register("before-parameter-build", _keep_parameters)
    session.events.register("before-call", _at_current_wire)
    return session


class _Client:
    def __init__(self, wire: Wire, client: Any) -> None:
        self._wire, self._client = wire, client

    def __getattr__(self, name: str) -> Any:
        WireSession._current.wire = self._wire
        return getattr(self._client, name)


def _at_current_wire(**event: Any) -> tuple[AWSResponse, Entry]:
    return WireSession._current.wire.answer(**event)


def _keep_parameters(params: Entry, model: Any, context: Entry, **_: Any) -> None:
    if model.input_shape is not None:
        _check(model, model.input_shape, params)
    context[_PARAMETERS] = dict(params)


def _check(model: Any, shape: Any, value: Entry) -> None:
    """Raises botocore's ParamValidationError. A sweep asks the same again and again: what was found right once is not looked at again."""
    key = hash((model.service_model.service_name, shape.name, repr(value)))
    if key not in _CHECKED:
        validate_parameters(value, shape)
        _CHECKED.add(key)


_CHECKED = set[int]()
_time = lru_cache(maxsize=4096)(parse_timestamp)


def _as_parsed(value: Any, shape: Any) -> Any:
    """The answer as boto3 returns it: times, which handlers write as text, are datetimes."""
    if shape.type_name == "structure":
        return {key: _as_parsed(item, shape.members[key]) for key, item in value.items()}
    if shape.type_name == "list":
        return [_as_parsed(item, shape.member) for item in value]
    return _time(value) if shape.type_name == "timestamp" else value


def _client_name(model: Any) -> str:
    metadata = model.service_model.metadata
    names = {
        "Service Quotas": "service-quotas",
        "Elastic Load Balancing v2": "elbv2",
        "Elastic Load Balancing": "elb",
        "Resource Groups Tagging API": "resourcegroupstaggingapi",
        "amp": "amp",
    }
    return names.get(metadata["serviceId"]) or str(metadata["endpointPrefix"]).removeprefix("api.")


@cache
def _paging(service: str, operation: str) -> Entry | None:
    """How the operation's answers are cut into pages, None where they are not."""
    try:
        return SESSION.get_paginator_model(service).get_paginator(operation)
    except (ValueError, DataNotFoundError):
        return None


def _one_page(name: str, answer: Entry, parameters: Entry, size: int) -> Entry:
    """The part of a list answer that its token asks for, with the token of the next."""
    paging = _paging(*name.split("."))
    if paging is None:
        return answer
    keys = paging["result_key"]
    key = keys[0] if isinstance(keys, list) else keys
    incoming, outgoing = (token[0] if isinstance(token, list) else token for token in (paging["input_token"], paging["output_token"]))
    if len(answer.get(key, ())) <= size and incoming not in parameters:
        return {**answer, paging["more_results"]: False} if "more_results" in paging else answer
    start = int(parameters.get(incoming, 0))
    page = {**answer, key: answer[key][start : start + size]}
    more = start + size < len(answer[key])
    if more:
        page[outgoing.split(" ")[0]] = str(start + size)
    if "more_results" in paging:
        page[paging["more_results"]] = more
    return page
