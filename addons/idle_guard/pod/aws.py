"""Two services of AWS with Python's standard library: EKS, to read and empty a node group, and SNS, to publish a message.

Signature Version 4 (IAM user guide, "Create a signed AWS API request"); credentials of EKS Pod Identity (EKS user guide, pod-id-how-it-works).
"""

import hashlib
import hmac
import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .decision import Scaling


class AwsError(Exception):
    """A service refused, or did not answer."""


@dataclass(frozen=True)
class Credentials:
    """Of the pod's role, for some hours."""

    key: str
    secret: str
    token: str


def signed(
    credentials: Credentials, service: str, region: str, method: str, url: str, body: bytes, now: datetime, headers: Mapping[str, str]
) -> dict[str, str]:
    """The headers of a request with its signature."""
    parts, stamp = urllib.parse.urlsplit(url), now.strftime("%Y%m%dT%H%M%SZ")
    sent = {**headers, "host": parts.netloc, "x-amz-date": stamp, "x-amz-security-token": credentials.token}
    names = ";".join(sorted(key.lower() for key in sent))
    lines = "".join(f"{key.lower()}:{sent[key].strip()}\n" for key in sorted(sent, key=str.lower))
    # Parts of a path are encoded twice; names of clusters and groups need it neither once.
    path = urllib.parse.quote(parts.path or "/", safe="/-_.~")
    canonical = "\n".join((method, path, "", lines, names, hashlib.sha256(body).hexdigest()))
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    to_sign = "\n".join(("AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{credentials.secret}".encode()
    for part in (stamp[:8], region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    return {**sent, "Authorization": f"AWS4-HMAC-SHA256 Credential={credentials.key}/{scope}, SignedHeaders={names}, Signature={signature}"}


class Aws:
    """The two services, with the credentials of the pod."""

    def __init__(
        self, region: str, dns_suffix: str, environment: Mapping[str, str], open_url: Callable[..., Any] = urllib.request.urlopen
    ) -> None:
        """`environment`: what Pod Identity sets, and `AWS_ENDPOINT_URL_EKS` and `AWS_ENDPOINT_URL_SNS` where these are elsewhere."""
        self._region, self._environment, self._open = region, environment, open_url
        self._eks = environment.get("AWS_ENDPOINT_URL_EKS") or f"https://eks.{region}.{dns_suffix}"
        self._sns_suffix = dns_suffix

    def scaling(self, cluster: str, group: str) -> Scaling:
        """How EKS has a group. Raises AwsError."""
        found = self._ask("eks", "GET", f"{self._eks}/clusters/{cluster}/node-groups/{group}")["nodegroup"]
        sizes = found["scalingConfig"]
        return Scaling(int(sizes["desiredSize"]), int(sizes["minSize"]), found["status"] == "ACTIVE")

    def empty(self, cluster: str, group: str) -> None:
        """Set a group to zero nodes, and nothing else of it. Raises AwsError."""
        body = json.dumps({"scalingConfig": {"desiredSize": 0}}).encode()
        self._ask("eks", "POST", f"{self._eks}/clusters/{cluster}/node-groups/{group}/update-config", body, "application/json")

    def publish(self, topic: str, subject: str, text: str) -> None:
        """Send a message to a topic, in the topic's region. Raises AwsError."""
        region = topic.split(":")[3]
        url = self._environment.get("AWS_ENDPOINT_URL_SNS") or f"https://sns.{region}.{self._sns_suffix}"
        asked = {"Action": "Publish", "Version": "2010-03-31", "TopicArn": topic, "Subject": subject, "Message": text}
        body = urllib.parse.urlencode(asked).encode()
        self._ask("sns", "POST", f"{url}/", body, "application/x-www-form-urlencoded; charset=utf-8", region)

    def _ask(self, service: str, method: str, url: str, body: bytes = b"", kind: str = "", region: str = "") -> Any:
        headers = {"content-type": kind} if kind else {}
        headers["accept"] = "application/json"
        given = signed(self._credentials(), service, region or self._region, method, url, body, datetime.now(UTC), headers)
        request = urllib.request.Request(url, body or None, {key: value for key, value in given.items() if key != "host"}, method=method)
        answer = self._answer(request)
        try:
            return json.loads(answer or "{}")
        except ValueError as error:
            raise AwsError(f"{method} {url}: the answer is no JSON") from error

    def _credentials(self) -> Credentials:
        where = self._environment.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
        if not where:
            raise AwsError("the pod has no Pod Identity: it started before its association was made, or there is none")
        token = Path(self._environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"]).read_text().strip()
        found = json.loads(self._answer(urllib.request.Request(where, headers={"Authorization": token})))
        return Credentials(found["AccessKeyId"], found["SecretAccessKey"], found["Token"])

    def _answer(self, request: urllib.request.Request) -> str:
        try:
            with self._open(request, timeout=30) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise AwsError(f"{request.get_method()} {request.full_url}: {error.code} {error.read()[:300]!r}") from error
        except (OSError, http.client.HTTPException) as error:
            raise AwsError(f"{request.get_method()} {request.full_url}: {error}") from error
