"""The program: load the configuration, build the cluster, export what its users need. Started as a plug-in, it serves the package."""

import pulumi

from stacks.package import is_plugin, serve

if is_plugin():
    serve()
else:
    from stacks.config import load_settings
    from stacks.rules import notices
    from stacks.trainium_cluster import TrainiumCluster

    settings = load_settings()
    for notice in notices(settings):
        pulumi.log.warn(notice)

    # The only cluster of its program: the logical names below it need no prefix.
    cluster = TrainiumCluster("cluster", settings, prefix="")
    for name, value in cluster.exports.items():
        pulumi.export(name, value)
