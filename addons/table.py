"""The add-ons of one configuration as a table: what each is, whether it is on here, and why. Plain data, for `trn addons`."""

from collections.abc import Mapping
from dataclasses import dataclass

from addons.cluster import Cluster
from addons.contract import load
from addons.declaration import Declaration
from addons.images import mirror_values, mirrored
from addons.registry import REGISTRY
from addons.versions import managed_addon_version


@dataclass(frozen=True)
class Row:
    """One add-on."""

    key: str
    title: str
    on: bool
    why: str
    purpose: str
    namespace: str
    versions: tuple[str, ...]
    """Charts and EKS add-ons, each as `name version`."""
    needs: tuple[str, ...]
    """Other add-ons, nodes and identities, in words."""
    endpoints: tuple[str, ...]
    """AWS services that its pods call, by the names of their VPC endpoints."""
    drained: tuple[str, ...]
    """Kinds of objects that `trn drain` knows of it, in order."""
    fights: str
    """Why no chart may be installed or deleted beside it; empty for most."""
    leaves: tuple[str, ...]
    images: tuple[str, ...]


@dataclass(frozen=True)
class MirroredImage:
    """One image and its place in a mirror."""

    addon: str
    image: str
    target: str


def rows(cluster: Cluster) -> list[Row]:
    """All add-ons, in the registry's order."""
    return [_row(declaration, cluster) for declaration in REGISTRY]


def _row(declaration: Declaration, cluster: Cluster) -> Row:
    on = declaration.is_on(cluster)
    return Row(
        key=declaration.key,
        title=declaration.title,
        on=on,
        why=_why(declaration, on),
        purpose=declaration.purpose,
        namespace=declaration.namespace or cluster.training_namespace,
        versions=(
            *(f"{chart.name} {chart.version}" for chart in declaration.charts),
            *(f"{name} {managed_addon_version(name, cluster.kubernetes_version)}" for name in declaration.managed),
        ),
        needs=_needs(declaration),
        endpoints=declaration.endpoints_in(cluster),
        drained=tuple(drained.resource.kind for drained in declaration.drained),
        fights=declaration.fenced,
        leaves=tuple(declaration.leaves),
        images=tuple(images_of(declaration)),
    )


def _why(declaration: Declaration, on: bool) -> str:
    if not declaration.switch:
        return "part of the core"
    if on:
        return f"`addons.{declaration.key}.enabled: true`"
    return f"`addons.{declaration.key}.enabled` is false, or nothing here asks for it"


def _needs(declaration: Declaration) -> tuple[str, ...]:
    where = {"core": "untainted nodes", "neuron": "Neuron nodes", "all": "every node", "none": ""}[declaration.nodes]
    return tuple(
        text
        for text in (
            *(f"addons.{need}" for need in declaration.needs),
            where,
            *(f"identity of {account}" for account in declaration.identities),
        )
        if text
    )


def images_of(declaration: Declaration) -> list[str]:
    """Images of an add-on's charts and own manifests, sorted. Those of EKS add-ons come from EKS's own registry."""
    return sorted({*(str(image["image"]) for chart in declaration.charts for image in load(chart).images), *declaration.images})


def mirror_list(registry: str, cluster: Cluster) -> list[MirroredImage]:
    """Images of all add-ons that are on, and where the mirror must hold them."""
    return [
        MirroredImage(declaration.key, image, mirrored(image, registry))
        for declaration in REGISTRY
        if declaration.switch and declaration.is_on(cluster)
        for image in images_of(declaration)
    ]


def mirror_values_by_chart(registry: str, cluster: Cluster) -> Mapping[str, Mapping[str, object]]:
    """Helm values by chart that point the charts that are on at the mirror; the key `addons.mirror` sets them."""
    return {
        chart.name: mirror_values(load(chart), registry)
        for declaration in REGISTRY
        if declaration.switch and declaration.is_on(cluster)
        for chart in declaration.charts
        if load(chart).images
    }
