"""The composition: which component feeds which, and nothing else."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from addons.core import component as core
from addons.making import make_addons, make_early_addons
from addons.managed import ManagedAddon, ManagedAddonArgs
from addons.shared_storage import DynamicClassArgs, SharedStorage, SharedStorageArgs
from addons.site import Site
from addons.training_namespace import TrainingNamespace
from addons.versions import managed_addon_version
from components import permanent
from components.budget_alarm import BudgetAlarm, BudgetAlarmArgs
from components.component import Component, RoleRules
from components.control_plane import AccessEntryArgs, ControlPlane, ControlPlaneArgs
from components.external_network import ExistingNetwork, ExistingNetworkArgs
from components.file_system import SharedFileSystem, existing_file_system
from components.identity import PodIdentity, ServiceAccount, node_role
from components.lustre import Lustre, LustreArgs
from components.network import Network, NetworkArgs
from components.node_group import NodeGroup
from components.place import Place
from components.security_groups import NodeSecurityGroup
from components.size_schedules import SizeSchedules, SizeSchedulesArgs
from facts import names
from facts.cidr import plan_subnets
from facts.permanent import KEPT
from stacks import outputs
from stacks.cluster import cluster_of
from stacks.external import control_plane_subnets, file_system_subnets, wanted_tags
from stacks.group_schedules import size_changes
from stacks.node_groups import CORE_GROUP, NodeContext, core_group_args, neuron_group_args
from stacks.settings import Settings, control_plane_role, existing_vpc, kept_role


class TrainiumCluster(Component):
    """A whole training cluster."""

    exports: dict[str, Any]
    """Stack outputs."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        opts: pulumi.ResourceOptions | None = None,
        *,
        prefix: str | None = None,
        token: str = "trn:stacks:TrainiumCluster",
    ) -> None:
        """An AWS provider among those of `opts` is used, and must have the region and the default tags; without one it makes its own.

        `prefix`: what the logical names of everything below start with; the name and a hyphen unless given. A program with one
        cluster may leave it empty. `token`: its type in the state, which has to be the one that a package's schema says.
        """
        kept = permanent.Identity(
            settings.name,
            settings.region,
            existing_vpc(settings) or settings.network.cidr,
            settings.control_plane_zones,
            settings.control_plane.encryption_key_arn,
            kept_role(settings),
            settings.storage.lustre.existing.file_system_id if settings.storage.lustre.existing is not None else None,
        )
        refusing = pulumi.ResourceOptions(hooks=permanent.kept_for_life(f"{name}-{settings.region}-{settings.name}-kept"))
        super().__init__(token, name, pulumi.ResourceOptions.merge(opts, refusing), kept.remembered)
        self.prefix = f"{self.named(name)}-" if prefix is None else self.named(prefix)
        self.role_rules = RoleRules(settings.iam.permissions_boundary, settings.iam.path, settings.iam.roles)
        self._settings = settings
        self._stack = names.stack_path(pulumi.get_organization(), pulumi.get_project(), pulumi.get_stack())
        self._owner_tags = names.cluster_tags(settings.name, self._stack)
        tags = {**settings.tags, **self._owner_tags}
        self._aws = _given_provider(opts) or aws.Provider(
            self.named("aws"), region=settings.region, default_tags={"tags": tags}, opts=pulumi.ResourceOptions(parent=self)
        )
        self._tags = tags
        # Everything below is a child of a child of this: the AWS provider reaches it through its parents.
        self._child = pulumi.ResourceOptions(parent=self, providers=[self._aws])

        self._place = self._make_network()
        self._nodes_group = NodeSecurityGroup("nodes", cluster_name=settings.name, vpc_id=self._place.vpc_id, opts=self._child)
        self._lustre = self._make_lustre() if settings.storage.lustre.is_own else None
        self._file_system = self._lustre.shared if self._lustre is not None else _existing_file_system(settings)
        self._control_plane = self._make_control_plane()
        self._core = self._make_node_groups()
        self._make_budget_alarm()
        self._kubernetes = self._make_kubernetes_provider()
        self._make_addons()
        self.exports = outputs.exports(settings, self._stack, self._place, self._control_plane, self._file_system)
        # Known when the cluster is there: until then another key or VPC may be tried.
        own = self._lustre.shared.file_system_id if self._lustre is not None else None
        made = pulumi.Output.all(self._control_plane.name, own).apply(lambda known: kept.kept(known[1]))
        self.register_outputs({**self.exports, KEPT: made})

    def _make_network(self) -> Place:
        settings = self._settings
        network, existing = settings.network, settings.network.existing
        if existing is not None:
            found = ExistingNetworkArgs(
                vpc_id=existing.vpc_id,
                control_plane_subnets=control_plane_subnets(settings, existing),
                node_subnets=existing.nodes,
                file_system_subnets=file_system_subnets(existing),
                tags=wanted_tags(settings) if existing.tag_subnets else (),
            )
            return ExistingNetwork("existing-network", found, self._child).place
        args = NetworkArgs(
            cluster_name=settings.name,
            region=settings.region,
            cidr=network.cidr,
            pod_cidr=network.pod_cidr,
            subnets=plan_subnets(network.cidr, network.pod_cidr, network.zones),
            nat=network.nat,
            s3_endpoint=network.s3_endpoint,
            interface_endpoints=network.interface_endpoints,
        )
        return Network("network", args, self._child).place

    def _make_lustre(self) -> Lustre:
        lustre, repository = self._settings.storage.lustre, self._settings.storage.lustre.data_repository
        args = LustreArgs(
            cluster_name=self._settings.name,
            vpc_id=self._place.vpc_id,
            subnet_id=self._lustre_subnet,
            node_security_group_id=self._nodes_group.security_group_id,
            capacity_gib=lustre.capacity_gib,
            throughput_mbps_per_tib=lustre.throughput_mbps_per_tib,
            compression=lustre.compression,
            final_backup=lustre.final_backup,
            backup_retention_days=lustre.backup_retention_days,
            s3_uri=repository.s3_uri if repository else None,
            s3_path=repository.path if repository else "/data",
            error_log_days=self._settings.control_plane.log_retention_days if repository and repository.error_log else None,
        )
        return Lustre("lustre", args, self._child)

    @property
    def _lustre_subnet(self) -> pulumi.Input[str]:
        return self._place.file_system_subnets[self._settings.lustre_zone]

    @property
    def _node_security_group_ids(self) -> list[pulumi.Input[str]]:
        """Groups on every interface of every node."""
        existing = self._settings.storage.lustre.existing
        clients = existing.client_security_group_id if existing is not None else None
        return [self._control_plane.security_group_id, self._nodes_group.security_group_id, *([clients] if clients else [])]

    def _make_control_plane(self) -> ControlPlane:
        plane = self._settings.control_plane
        args = ControlPlaneArgs(
            cluster_name=self._settings.name,
            region=self._settings.region,
            vpc_id=self._place.vpc_id,
            subnet_ids={zone_id: self._place.control_plane_subnets[zone_id] for zone_id in self._settings.control_plane_zones},
            kubernetes_version=plane.kubernetes_version,
            vpc_cni_version=managed_addon_version("vpc-cni", plane.kubernetes_version),
            kube_proxy_version=managed_addon_version("kube-proxy", plane.kubernetes_version),
            support_type=plane.support_type,
            public_access_cidrs=plane.public_access_cidrs,
            access_entries={
                key: AccessEntryArgs(entry.principal_arn, entry.policy, entry.namespaces) for key, entry in plane.access_entries.items()
            },
            log_types=plane.log_types,
            log_retention_days=plane.log_retention_days,
            encryption_key_arn=plane.encryption_key_arn,
            role_name=control_plane_role(self._settings),
            deletion_protection=plane.deletion_protection,
        )
        return ControlPlane("control-plane", args, self._child)

    def _make_node_groups(self) -> NodeGroup:
        """All groups, side by side; the core group is returned, since what runs in the cluster waits for it."""
        settings = self._settings
        role = node_role("node-role", settings.name, settings.region, self._child, session_manager=settings.nodes.session_manager)
        account = core.vpc_cni_account(settings.name, settings.region)
        cni_identity = PodIdentity("vpc-cni-identity", account, cluster_name=self._control_plane.name, opts=self._child)
        agent = self._managed_addon("eks-pod-identity-agent")
        context = NodeContext(
            cluster_name=settings.name,
            control_plane_name=self._control_plane.name,
            node_role_arn=role.arn,
            subnet_ids=self._place.node_subnets,
            security_group_ids=self._node_security_group_ids,
            tags=self._tags,
        )
        joining = [*self._place.egress, *self._nodes_group.rules, *role.grants, cni_identity.association]
        # The agent is in place minutes before any Neuron node has booted; only the core group, which is not on the
        # longest path, is made to wait for it.
        group = NodeGroup(CORE_GROUP, core_group_args(settings, context), after=[*joining, agent.addon], opts=self._child)
        neuron_groups = {
            name: NodeGroup(name, neuron_group_args(settings, name, context), after=joining, opts=self._child)
            for name in settings.node_groups
        }
        self._make_schedules(neuron_groups)
        return group

    def _make_budget_alarm(self) -> None:
        alarm = self._settings.budget.alarm
        if alarm is None:
            return
        args = BudgetAlarmArgs(
            cluster_name=self._settings.name,
            region=self._settings.region,
            limit_usd_per_month=alarm.limit_usd_per_month,
            actual_percent=alarm.actual_percent,
            forecast_percent=alarm.forecast_percent,
            emails=alarm.emails,
            sns_topic_arn=alarm.sns_topic_arn,
        )
        BudgetAlarm("budget-alarm", args, self._child)

    def _make_schedules(self, groups: Mapping[str, NodeGroup]) -> None:
        changes = size_changes(self._settings)
        if changes:
            args = SizeSchedulesArgs(cluster_name=self._settings.name, region=self._settings.region, changes=changes)
            after = {change.node_group: groups[change.node_group].group for change in changes}
            SizeSchedules("schedules", args, after=after, opts=self._child)

    def _make_kubernetes_provider(self) -> k8s.Provider:
        # Behind the core group: nothing lives in Kubernetes before there is a node to run it, and on destroy everything
        # in Kubernetes is deleted while nodes are there to run webhooks, hook Jobs and finalizers.
        return k8s.Provider(
            self.named("kubernetes"),
            kubeconfig=self._control_plane.kubeconfig,
            # Without it a new endpoint in the kubeconfig would replace everything in the cluster.
            cluster_identifier=f"{self._settings.region}/{self._settings.name}",
            enable_config_map_mutable=True,
            enable_secret_mutable=True,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[self._core.group]),
        )

    def _managed_addon(
        self,
        addon: str,
        *,
        account: ServiceAccount | None = None,
        configuration: dict[str, Any] | None = None,
        after: list[pulumi.Resource] | None = None,
    ) -> ManagedAddon:
        args = ManagedAddonArgs(
            addon=addon,
            version=managed_addon_version(addon, self._settings.control_plane.kubernetes_version),
            control_plane_name=self._control_plane.name,
            account=account,
            configuration=configuration or {},
        )
        return ManagedAddon(addon, args, after=after or [], opts=self._child)

    def _make_addons(self) -> None:
        settings, nodes = self._settings, self._core.group
        self._managed_addon("coredns", configuration=core.coredns_configuration(settings.addons.core_dns), after=[nodes])
        ebs_csi = self._managed_addon(
            "aws-ebs-csi-driver",
            account=core.ebs_csi_account(settings.name, settings.region),
            configuration=core.ebs_csi_configuration(self._owner_tags),
            after=[nodes],
        )
        in_kubernetes = pulumi.ResourceOptions(parent=self, provider=self._kubernetes, depends_on=[ebs_csi.addon])
        site = Site(
            cluster=cluster_of(settings),
            parent=self,
            aws_provider=self._aws,
            kubernetes_provider=self._kubernetes,
            control_plane_name=self._control_plane.name,
            control_plane_arn=self._control_plane.arn,
            vpc_id=self._place.vpc_id,
            core=nodes,
            node_subnets=self._place.node_subnets,
            node_security_group_ids=self._node_security_group_ids,
            tags=self._tags,
            owner_tags=self._owner_tags,
            default_class=core.default_storage_class(self.named("default-storage-class"), in_kubernetes),
        )
        make_early_addons(site)
        site.namespace = TrainingNamespace("training-namespace", site).resource
        if self._file_system is not None:
            storage = self._make_shared_storage(self._file_system, site)
            site.claim, site.volume = storage.ready, [storage.volume]
        make_addons(site)

    def _make_shared_storage(self, file_system: SharedFileSystem, site: Site) -> SharedStorage:
        settings, section = self._settings, self._settings.storage.lustre
        # A driver that mounts what others keep has no right to FSx.
        account = core.fsx_csi_account(settings.name, settings.region) if section.is_own else None
        driver = self._managed_addon("aws-fsx-csi-driver", account=account, after=[self._core.group])
        args = SharedStorageArgs(section.claim_name, file_system, self._dynamic_class())
        return SharedStorage("shared-storage", args, site, after=[driver.addon, *file_system.ready])

    def _dynamic_class(self) -> DynamicClassArgs | None:
        section = self._settings.storage.lustre
        if self._lustre is None or not section.has_dynamic_class:
            return None
        return DynamicClassArgs(
            throughput_mbps_per_tib=section.throughput_mbps_per_tib,
            compression=section.compression,
            subnet_id=self._lustre_subnet,
            security_group_id=self._lustre.security_group_id,
        )


def _existing_file_system(settings: Settings) -> SharedFileSystem | None:
    existing = settings.storage.lustre.existing
    return existing_file_system(settings.region, existing.file_system_id, existing.mount_name) if existing is not None else None


def _given_provider(opts: pulumi.ResourceOptions | None) -> pulumi.ProviderResource | None:
    """The AWS provider among the options' providers, where there is one; that of another language's program is no aws.Provider."""
    given = opts.providers if opts is not None else None
    providers = given.values() if isinstance(given, Mapping) else given or ()
    single = opts.provider if opts is not None else None
    return next(
        (provider for provider in (*providers, single) if isinstance(provider, pulumi.ProviderResource) and provider.package == "aws"), None
    )
