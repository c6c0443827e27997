"""The idle guard as a component: a topic with its addresses, one pod of our own with few rights, and its memory's namespace."""

import json
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from addons.base import Addon
from addons.idle_guard import NAME, IdleGuardSettings
from addons.idle_guard.values import MEMORY_RULES, RULES, SETTINGS, guard_policy, guard_settings, guard_spec, scripts, topic_name
from addons.manifests import own_labels
from addons.site import Site
from addons.versions import PYTHON_IMAGE
from components.identity import ServiceAccount


class IdleGuard(Addon):
    """Its pod waits for its rights, and is gone before them."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("IdleGuard", name, site)
        cluster = site.cluster
        topic = self._topic(name, cluster.name, cluster.section(IdleGuardSettings))
        policy = guard_policy(cluster)
        identity = self.identity(
            ServiceAccount(cluster.name, cluster.region, NAME, NAME, NAME, policy=policy), site.control_plane_name
        ).association
        namespace = self.namespace(NAME)
        metadata: Any = {"name": NAME, "namespace": NAME, "labels": own_labels(NAME)}
        account = k8s.core.v1.ServiceAccount(self.named(name), metadata=metadata, opts=self.in_cluster(namespace))
        rights = [self.cluster_rights(NAME, NAME, RULES, account), self._memory(name, metadata, account)]
        settings = topic.apply(lambda arn: json.dumps(guard_settings(cluster, arn), indent=1, sort_keys=True))
        data: Any = {**scripts(), SETTINGS: settings}
        script = k8s.core.v1.ConfigMap(self.named(name), metadata=metadata, data=data, opts=self.in_cluster(namespace))
        spec: Any = guard_spec(self.image(PYTHON_IMAGE), identity.association_id)
        opts = self.in_cluster(script, identity, *rights)
        self.ready.append(k8s.apps.v1.Deployment(self.named(name), metadata=metadata, spec=spec, opts=opts))
        self.register_outputs({})

    def _topic(self, name: str, cluster: str, section: IdleGuardSettings) -> pulumi.Output[str]:
        """ARN of the topic: the stack's own with its addresses, or the one that is given."""
        if section.sns_topic_arn is not None:
            return pulumi.Output.from_input(section.sns_topic_arn)
        topic = aws.sns.Topic(self.named(name), name=topic_name(cluster), opts=self.child())
        for email in section.emails:
            aws.sns.TopicSubscription(self.named(f"{name}-{email}"), topic=topic.arn, protocol="email", endpoint=email, opts=self.child())
        return topic.arn

    def _memory(self, name: str, metadata: Any, account: pulumi.Resource) -> pulumi.Resource:
        rules: Any = list(MEMORY_RULES)
        role = k8s.rbac.v1.Role(self.named(name), metadata=metadata, rules=rules, opts=self.in_cluster(account))
        return k8s.rbac.v1.RoleBinding(
            self.named(name),
            metadata=metadata,
            role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME},
            subjects=[{"kind": "ServiceAccount", "name": NAME, "namespace": NAME}],
            opts=self.in_cluster(role, account),
        )


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return IdleGuard("idle-guard", site)
