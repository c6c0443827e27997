"""The add-ons of a cluster, made one after the other in the registry's order."""

from importlib import import_module

from addons.registry import FOLDER_OF, SWITCHED, making_order
from addons.site import Installed, Site


def make_early_addons(site: Site) -> None:
    """Those that must be there before the training namespace, and outlive it."""
    _make(site, early=True)


def make_addons(site: Site) -> None:
    """All others that are on."""
    _make(site, early=False)


def make_addon(key: str, site: Site) -> Installed:
    """One add-on. Its component is loaded here: commands that only read declarations need no Pulumi SDK."""
    return import_module(f"addons.{FOLDER_OF[key]}.component").make(site)


def _make(site: Site, *, early: bool) -> None:
    for key in making_order():
        if SWITCHED[key].early == early and SWITCHED[key].is_on(site.cluster):
            site.made[key] = make_addon(key, site)
