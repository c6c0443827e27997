"""A small base image, and folders of files."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

from tests.trn.jobs.image.strict_registry import StrictRegistry, digest_of
from trn.jobs.image.push import PushPlan, send_layers
from trn.jobs.image.registry import Registry

OCI, DOCKER = "application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json"
_PARTS = {
    OCI: ("application/vnd.oci.image.config.v1+json", "application/vnd.oci.image.layer.v1.tar+gzip", "application/vnd.oci.image.index.v1+json"),
    DOCKER: (
        "application/vnd.docker.container.image.v1+json", "application/vnd.docker.image.rootfs.diff.tar.gzip",
        "application/vnd.docker.distribution.manifest.list.v2+json",
    ),
}  # fmt: skip


def layer(number: int, size: int = 300_000) -> tuple[bytes, str]:
    """A layer that does not pack well, and its diff id."""
    seed = b"".join(hashlib.sha256(f"{number} {index}".encode()).digest() for index in range(size // 32))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(f"opt/{number}")
        entry.size = len(seed)
        archive.addfile(entry, io.BytesIO(seed))
    return gzip.compress(buffer.getvalue(), mtime=0), digest_of(buffer.getvalue())


def put_base(
    registry: StrictRegistry, repository: str = "neuron/base", tag: str = "1", kind: str = DOCKER, layers: int = 2, index: bool = False
) -> str:
    """A base image in a registry; its digest. `index`: behind an index of two platforms."""
    config_type, layer_type, index_type = _PARTS[kind]
    made = [layer(number) for number in range(layers)]
    config = json.dumps(
        {
            "architecture": "amd64", "os": "linux", "created": "2026-08-01T00:00:00Z", "config": {"Env": ["PATH=/usr/bin"], "WorkingDir": "/"},
            "rootfs": {"type": "layers", "diff_ids": [diff for _, diff in made]}, "history": [{"created_by": "base"}],
        }
    ).encode()  # fmt: skip
    manifest = json.dumps(
        {
            "schemaVersion": 2, "mediaType": kind,
            "config": {"mediaType": config_type, "size": len(config), "digest": digest_of(config)},
            "layers": [{"mediaType": layer_type, "size": len(body), "digest": digest_of(body)} for body, _ in made],
        }
    ).encode()  # fmt: skip
    digest = registry.put(repository, f"{tag}-amd64" if index else tag, manifest, kind, config, *(body for body, _ in made))
    if index:
        platforms = [("arm64", digest_of(b"other")), ("amd64", digest)]
        entries = [
            {"mediaType": kind, "size": len(manifest), "digest": which, "platform": {"os": "linux", "architecture": name}}
            for name, which in platforms
        ]
        registry.put(repository, tag, json.dumps({"schemaVersion": 2, "mediaType": index_type, "manifests": entries}).encode(), index_type)
    return digest


def push(plan: PushPlan, target: Registry, base: Registry, tell: Callable[[str], None]) -> None:
    """Layers, then the name, unless it is this image's already."""
    if not plan.is_named:
        send_layers(plan, target, base, tell)
        target.put_manifest(plan.repository, plan.tag, plan.made.manifest)


def files(folder: Path, **texts: str) -> Path:
    """A folder of files; `a__b` is b in the folder a, and `.py` is added."""
    for name, text in texts.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder
