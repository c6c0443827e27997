"""An image as its registry keeps it: the manifest of a base, and that of the same image with one more layer. Pure.

Sources: OCI image specification 1.1, manifest, config and image index; Docker image manifest version 2, schema 2, which ECR and most
published images still have. A new manifest is of the base's kind: registries refuse a mixture.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trn.cli.errors import CommandError

PLATFORM = ("linux", "amd64")
"""Of all nodes with Trainium."""
OCI = "application/vnd.oci.image.manifest.v1+json"
DOCKER = "application/vnd.docker.distribution.manifest.v2+json"
INDEXES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")
ACCEPTED = (OCI, DOCKER, *INDEXES)
_LAYER = {OCI: "application/vnd.oci.image.layer.v1.tar+gzip", DOCKER: "application/vnd.docker.image.rootfs.diff.tar.gzip"}
BASE_NAME, BASE_DIGEST = "org.opencontainers.image.base.name", "org.opencontainers.image.base.digest"
"""Labels by which an image says what it was made from (OCI image specification, annotations)."""


@dataclass(frozen=True)
class Manifest:
    """One manifest, as the bytes that its digest is of."""

    body: bytes
    media_type: str

    @property
    def digest(self) -> str:
        """The image's name that never changes."""
        return digest_of(self.body)

    @property
    def value(self) -> Mapping[str, Any]:
        """What it says."""
        return json.loads(self.body)

    @property
    def layers(self) -> list["Blob"]:
        """Its layers, lowest first."""
        return [Blob(item["digest"], item["size"]) for item in self.value["layers"]]

    @property
    def config(self) -> "Blob":
        """Its configuration."""
        return Blob(self.value["config"]["digest"], self.value["config"]["size"])


@dataclass(frozen=True)
class Blob:
    """Bytes in a registry, by their digest."""

    digest: str
    size: int


def digest_of(body: bytes) -> str:
    """The digest of bytes, as registries spell it."""
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def chosen(index: Manifest, image: str) -> str:
    """Digest of the image for our nodes in an index of several platforms. Raises CommandError where there is none."""
    for item in index.value.get("manifests", ()):
        platform = item.get("platform", {})
        if (platform.get("os"), platform.get("architecture")) == PLATFORM:
            return item["digest"]
    raise CommandError(f"{image} has no image for {'/'.join(PLATFORM)}, which nodes with Trainium are", "name another one with --base")


def with_layer(base: Manifest, config: bytes, image: str, layer: Blob, diff_id: str, into: str) -> tuple[Manifest, bytes]:
    """The base with one layer of files on top, and its configuration: work begins where the files are.

    `config`: of the base; `image`: its name. Nothing of the time or the machine is in the result.
    """
    made = json.loads(config)
    made["rootfs"]["diff_ids"] = [*made["rootfs"]["diff_ids"], diff_id]
    if "history" in made:
        made["history"] = [*made["history"], {"created_by": f"trn image push: files in {into}", "comment": f"on {image}"}]
    inner = made.setdefault("config", {})
    inner["WorkingDir"] = into
    inner["Labels"] = {**(inner.get("Labels") or {}), BASE_NAME: image, BASE_DIGEST: base.digest}
    body = as_json(made)
    value = dict(base.value)
    value["config"] = {**value["config"], "digest": digest_of(body), "size": len(body)}
    added = {"mediaType": _LAYER[base.media_type], "size": layer.size, "digest": layer.digest}
    value["layers"] = [*value["layers"], added]
    return Manifest(as_json(value), base.media_type), body


def as_json(value: Any) -> bytes:
    """The same bytes for the same value."""
    return json.dumps(value, separators=(",", ":")).encode()
