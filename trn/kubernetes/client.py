"""The one way to Kubernetes: list, read, create and delete objects of any kind by their path, and one error for a server that is gone."""

import base64
import json
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from facts.kubernetes_kinds import Resource
from facts.regions import dns_suffix
from facts.typed import typed
from trn.aws.api import BotoApi
from trn.cli.errors import CommandError

TIMEOUT_S = 30
TOO_MANY_REQUESTS, THROTTLE_WAITS_S = 429, (1, 2, 4, 8)
"""What the API server answers when it has too much to do, and how long is waited before each further try."""
CONFLICT = 409
FIELD_MANAGER = "trn"
"""Under this name the API server keeps which fields of an object are ours (Kubernetes, server-side apply)."""
APPLY = "application/apply-patch+yaml"
"""Media type of server-side apply; JSON is YAML."""
_OWN_NOTHING = frozenset({"Lease"})
"""Kinds that are gone with the server's answer, and their names free: others stay until its garbage collector has seen what they own."""
TOKEN_LIFE_S = 60
"""Life of the signed address inside a token; the token itself holds for 15 minutes (EKS user guide, cluster-auth)."""
TOKEN_RENEWAL_S = 600
"""A command that waits for images and devices outlives one token."""
Object = dict[str, Any]


class Unreachable(CommandError):
    """The API server does not answer, or refuses access."""


class Forbidden(Unreachable):
    """The caller may not do this one thing; for another kind of object it may be different."""


class AlreadyThere(CommandError):
    """An object of that name is there already."""


class Conflict(CommandError):
    """The object is another one than was named, or has changed."""


class Kubernetes(Protocol):
    """What the commands need."""

    def list(self, resource: Resource, *, namespace: str = "", label: str = "") -> "list[Object] | None":
        """All objects of a kind, in all namespaces or one, and with `key=value` only those; None where the cluster does not know the kind."""
        ...

    def read(self, path: str) -> "Object | None":
        """What the API serves at a path; None for what is not there."""
        ...

    def text(self, path: str, *, timeout_s: float = TIMEOUT_S) -> str | None:
        """What the API serves at a path, as it is: a log. None for what is not there. `timeout_s`: longest silence; a log that is followed has long ones."""
        ...

    def delete(
        self, resource: Resource, name: str, namespace: str = "", *, uid: str = "", version: str = "", grace_s: int | None = None
    ) -> None:
        """Delete an object and what it owns; one that is gone already is no error.

        `uid`: only the object that has it, `version`: only as it was read, by its resourceVersion; raises Conflict where another one has the name by now. `grace_s`: seconds that a pod gets
        to end, in place of its own.
        """
        ...

    def create(self, resource: Resource, namespace: str, body: Object) -> None:
        """Make an object. Raises CommandError where the cluster does not know the kind, or has no such namespace."""
        ...

    def make(self, resource: Resource, namespace: str, body: Object) -> Object:
        """Make an object that is not there yet; returns it as the server keeps it. Raises AlreadyThere, and CommandError as `apply` does."""
        ...

    def patch(self, resource: Resource, name: str, namespace: str, body: Object) -> None:
        """Merge fields into an object; one that is gone already is no error."""
        ...

    def apply(self, resource: Resource, namespace: str, body: Object, *, dry_run: bool = False) -> Object:
        """Make an object, or change the fields of it that this program set. `dry_run`: the server judges it, whoever set them, and keeps nothing.

        Raises CommandError for what the server refuses, and where the cluster does not know the kind, or has no such namespace.
        """
        ...


class KubernetesClient:
    """A cluster through the official client."""

    def __init__(self, client: Any, bearer: Callable[[], str] | None) -> None:
        """`client`: a kubernetes.client.ApiClient; `bearer`: gives the caller's token, None where the client has a certificate."""
        self._client, self._bearer = client, bearer

    def list(self, resource: Resource, *, namespace: str = "", label: str = "") -> "list[Object] | None":
        """All objects of a kind, in all namespaces or one, and with `key=value` only those; None where the cluster does not know the kind."""
        answer = self._call("GET", _path(resource, namespace) + (f"?labelSelector={quote(label, safe='')}" if label else ""))
        return None if answer is None else list(answer["items"])

    def read(self, path: str) -> "Object | None":
        """What the API serves at a path; None for what is not there."""
        return self._call("GET", path)

    def text(self, path: str, *, timeout_s: float = TIMEOUT_S) -> str | None:
        """What the API serves at a path, as it is: a log. None for what is not there. `timeout_s`: longest silence; a log that is followed has long ones."""
        answer = self._answer("GET", path, timeout_s=timeout_s)
        return None if answer is None else answer.decode(errors="replace")

    def delete(
        self, resource: Resource, name: str, namespace: str = "", *, uid: str = "", version: str = "", grace_s: int | None = None
    ) -> None:
        """Delete an object and what it owns; one that is gone already is no error.

        `uid`: only the object that has it, `version`: only as it was read, by DeleteOptions' preconditions; raises Conflict where
        another one has the name by now, or it was changed.
        `grace_s`: seconds that a pod gets to end, in place of its own.
        """
        conditions = {key: value for key, value in (("uid", uid), ("resourceVersion", version)) if value}
        policy = "Background" if resource.kind in _OWN_NOTHING else "Foreground"
        options: Object = {"propagationPolicy": policy, **({"preconditions": conditions} if conditions else {})}
        if grace_s is not None:
            options["gracePeriodSeconds"] = grace_s
        self._call("DELETE", f"{_path(resource, namespace)}/{name}", options)

    def create(self, resource: Resource, namespace: str, body: Object) -> None:
        """Make an object. Raises CommandError where the cluster does not know the kind, or has no such namespace."""
        if self._call("POST", _path(resource, namespace), body) is None:
            raise CommandError(f"the cluster knows no {resource.kind}, or no namespace {namespace}", f"`{typed('pulumi up')}` makes both")

    def make(self, resource: Resource, namespace: str, body: Object) -> Object:
        """Make an object that is not there yet; returns it as the server keeps it. Raises AlreadyThere, and CommandError as `apply` does."""
        path = f"{_path(resource, namespace)}?fieldManager={FIELD_MANAGER}&fieldValidation=Strict"
        answer = self._call("POST", path, body)
        if answer is None:
            raise CommandError(f"the cluster knows no {resource.kind}, or no namespace {namespace}", f"`{typed('pulumi up')}` makes both")
        return answer

    def patch(self, resource: Resource, name: str, namespace: str, body: Object) -> None:
        """Merge fields into an object; one that is gone already is no error."""
        self._call("PATCH", f"{_path(resource, namespace)}/{name}", body)

    def apply(self, resource: Resource, namespace: str, body: Object, *, dry_run: bool = False) -> Object:
        """Make an object, or change the fields of it that this program set. `dry_run`: the server judges it, whoever set them, and keeps nothing.

        Raises CommandError for what the server refuses, and where the cluster does not know the kind, or has no such namespace.
        """
        query = f"?fieldManager={FIELD_MANAGER}&fieldValidation=Strict" + ("&dryRun=All&force=true" if dry_run else "")
        answer = self._call("PATCH", f"{_path(resource, namespace)}/{body['metadata']['name']}{query}", body, APPLY)
        if answer is None:
            raise CommandError(f"the cluster knows no {resource.kind}, or no namespace {namespace}", f"`{typed('pulumi up')}` makes both")
        return answer

    def _call(self, method: str, path: str, body: Object | None = None, sends: str = "") -> Object | None:
        """The same as JSON."""
        answer = self._answer(method, path, body, sends)
        return None if answer is None else json.loads(answer)

    def _answer(self, method: str, path: str, body: Object | None = None, sends: str = "", timeout_s: float = TIMEOUT_S) -> bytes | None:
        """The answer, None for a 404. `sends`: media type of the body, where it is not the method's own. Raises CommandError for what the server refuses, Unreachable where it does not answer."""
        from urllib3.exceptions import HTTPError

        sends = sends or ("application/merge-patch+json" if method == "PATCH" else "application/json")
        headers = {"Accept": "application/json", "Content-Type": sends}
        if self._bearer is not None:
            headers["Authorization"] = f"Bearer {self._bearer()}"
        url, waits = self._client.configuration.host + path, list(THROTTLE_WAITS_S)
        try:
            while True:
                answer = self._client.call_api(method, url, header_params=headers, body=body, _request_timeout=timeout_s)
                text = answer.read()
                if answer.status != TOO_MANY_REQUESTS or not waits:
                    break
                time.sleep(waits.pop(0))
        except HTTPError as error:
            raise Unreachable(f"the API server does not answer: {error}", "is your address in `controlPlane.publicAccessCidrs`?") from error
        if answer.status == 404:
            return None
        if answer.status in (401, 403):
            hint = "the caller needs an access entry: `controlPlane.accessEntries` in the stack file"
            denied = Forbidden if answer.status == 403 else Unreachable
            raise denied(f"{answer.status} {answer.reason} ({method} {path})", hint)
        if answer.status >= 300:
            kind = CommandError if answer.status != CONFLICT else AlreadyThere if method == "POST" else Conflict
            raise kind(f"{answer.status} {answer.reason} ({method} {path}): {text[:300].decode(errors='replace')}")
        return text


def _path(resource: Resource, namespace: str) -> str:
    return f"{resource.path}/namespaces/{namespace}/{resource.plural}" if namespace else f"{resource.path}/{resource.plural}"


def connect(api: BotoApi, entry: Object) -> KubernetesClient:
    """A client of the cluster that `DescribeCluster` described, with a token of the caller's own: no kubeconfig is read."""
    from kubernetes.client import ApiClient, Configuration
    from urllib3 import Retry

    configuration = Configuration(host=entry["endpoint"])
    # The client wants the authority as a file.
    folder = tempfile.mkdtemp(prefix="trn-")
    authority = Path(folder) / "ca.crt"
    authority.write_bytes(base64.b64decode(entry["certificateAuthority"]["data"]))
    configuration.ssl_ca_cert = str(authority)
    # A server that is gone is reported at once: a destroy continues without it.
    # What it puts off is tried again above, with its last word in hand.
    configuration.retries = Retry(1, respect_retry_after_header=False)
    client = KubernetesClient(ApiClient(configuration), Bearer(lambda: token(api, entry["name"]), time.monotonic))
    weakref.finalize(client, shutil.rmtree, folder, ignore_errors=True)
    return client


class Bearer:
    """A token that is renewed before it ends."""

    def __init__(self, make: Callable[[], str], clock: Callable[[], float]) -> None:
        """`clock`: seconds that only grow."""
        self._make, self._clock = make, clock
        self._token, self._made = "", 0.0

    def __call__(self) -> str:
        if not self._token or self._clock() - self._made > TOKEN_RENEWAL_S:
            self._token, self._made = self._make(), self._clock()
        return self._token


def token(api: BotoApi, cluster: str) -> str:
    """What `aws eks get-token` gives: a signed GetCallerIdentity that the API server sends to STS itself (aws-iam-authenticator)."""
    from botocore.signers import RequestSigner

    client = api.client("sts")
    url = f"https://sts.{api.region}.{dns_suffix(api.region)}/?Action=GetCallerIdentity&Version=2011-06-15"
    signer = RequestSigner(
        client.meta.service_model.service_id, api.region, "sts", "v4", client._request_signer._credentials, client.meta.events
    )
    request = {"method": "GET", "url": url, "body": {}, "headers": {"x-k8s-aws-id": cluster}, "context": {}}
    signed = signer.generate_presigned_url(request, region_name=api.region, expires_in=TOKEN_LIFE_S, operation_name="")
    return "k8s-aws-v1." + base64.urlsafe_b64encode(str(signed).encode()).decode().rstrip("=")
