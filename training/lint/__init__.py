"""What is wrong with a manifest of a training job, also one that this program did not write: a list of findings, each with its fix. Pure.

A manifest is read for its workloads (every pod that it would start, of any kind), and each rule looks at those. `training.check` is
for job files, which say what they want and not how.
"""

from training.lint import placement, rules_claims, rules_containers, rules_gang, rules_hardware
from training.lint.finding import Document, Finding
from training.lint.workloads import workloads
from training.site import Site

RULES = (*placement.RULES, *rules_hardware.RULES, *rules_claims.RULES, *rules_containers.RULES, *rules_gang.RULES)
"""Every rule: workloads of all documents, and the cluster where one is named, to findings."""


def lint(documents: list[Document], site: Site | None = None) -> list[Finding]:
    """All findings, in the order of the documents and of their lines' paths; none for a manifest without a pod on Neuron."""
    found = workloads(documents)
    if not any(workload.on_neuron for workload in found):
        return []
    findings = {finding for rule in RULES for finding in rule(found, site)}
    findings |= {finding for rule in placement.DOCUMENT_RULES for finding in rule(documents, site)}
    return sorted(findings, key=lambda item: (item.document, item.sort_key, item.rule))
