package v1beta1

// QueueAllocationGateKey marks pods that wait until their queue has room (volcano-sh/volcano
// docs/design/scheduling-gates-queue-admission.md). Volcano 1.15 uses it; no release of its API module that has it is published.
const QueueAllocationGateKey = GroupName + "/queue-allocation-gate"
