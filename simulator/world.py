"""What exists in the simulated account, which deletions it refuses, and what a destroy leaves behind.

It refuses deletions only, and knows a resource by its URN.
"""

from dataclasses import dataclass, field

from simulator.recording import Registration


@dataclass(frozen=True)
class Refusal:
    """An error as the service, or the engine, words it."""

    code: str
    text: str

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"


@dataclass(frozen=True)
class Thing:
    """Something that exists, and may be left behind."""

    urn: str
    """Of the resource that it is, or that brought it about."""
    what: str
    """In words, for the report."""


@dataclass
class World:
    """The simulated account. Mutable: creating and deleting change it."""

    things: dict[str, Thing] = field(default_factory=dict)

    def create(self, registration: Registration) -> None:
        """Bring a resource into being. Components and providers exist in the engine only."""
        if registration.custom and not registration.type.startswith("pulumi:providers:"):
            self.things[registration.urn] = Thing(registration.urn, f"{registration.type} {registration.id}")

    def delete(self, registration: Registration) -> Refusal | None:
        """Take a resource away, or refuse. What a deletion leaves stays in the world."""
        if registration.options.get("protect"):
            return Refusal("error", f'resource "{registration.urn}" cannot be deleted because it is protected')
        if registration.type == "aws:eks/cluster:Cluster" and registration.inputs.get("deletionProtection"):
            # The code is in the service model (EKS API, DeleteCluster); the text was not seen and is ours.
            return Refusal(
                "InvalidRequestException",
                f"cluster {registration.id} has deletion protection; set controlPlane.deletionProtection: false and run `pulumi up` first",
            )
        if registration.options.get("retainOnDelete"):
            return None
        self.things.pop(registration.urn, None)
        if registration.type == "aws:fsx/lustreFileSystem:LustreFileSystem" and registration.inputs.get("skipFinalBackup") is False:
            key = f"{registration.urn}#backup"
            self.things[key] = Thing(registration.urn, f"final backup of {registration.id}")
        if registration.type == "aws:fsx/lustreFileSystem:LustreFileSystem" and registration.inputs.get("automaticBackupRetentionDays"):
            days = registration.inputs["automaticBackupRetentionDays"]
            self.things[f"{registration.urn}#daily"] = Thing(registration.urn, f"daily backups of {registration.id}, kept {days} days")
        if registration.type == "kubernetes:helm.sh/v3:Release" and registration.inputs.get("createNamespace"):
            key = f"{registration.urn}#namespace"
            self.things[key] = Thing(registration.urn, f"namespace {registration.inputs['namespace']}, which Helm made and never deletes")
        return None

    def leftovers(self) -> list[Thing]:
        """All that is there, by URN."""
        return [self.things[key] for key in sorted(self.things)]
