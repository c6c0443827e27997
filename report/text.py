"""What all drawings share: words for times and types, widths of text, escaping, and colours for light and dark mode."""

import html
import re
from collections.abc import Iterable, Mapping
from string import Template

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"

LIGHT: Mapping[str, str] = {
    "paper": "#ffffff", "ink": "#1b2330", "muted": "#5d6878", "line": "#dfe4ea", "tint": "#f3f6f9", "bad": "#c81e2b", "warn": "#9a5b00",
    "bar": "#8190a2", "critical": "#1f5fd6", "bound": "#0b7a6d", "edge": "#7a8797", "span": "#dce3eb",
}  # fmt: skip
"""Colours that every drawing uses, in light mode."""
DARK: Mapping[str, str] = {
    "paper": "#0f141b", "ink": "#e4e9f0", "muted": "#99a5b5", "line": "#29313c", "tint": "#171e27", "bad": "#ff6f6a", "warn": "#f0b14a",
    "bar": "#6b7a8d", "critical": "#5b9bff", "bound": "#3fd0bd", "edge": "#6b7a8d", "span": "#263040",
}  # fmt: skip
"""The same in dark mode."""
PICTURE_LIGHT: Mapping[str, str] = {
    "frame": "#aeb8c5", "ground": "#f6f8fa", "plain": "#eef1f5", "plain_edge": "#8492a5", "control": "#e8f0fe", "control_edge": "#1f5fd6",
    "gateway": "#f3edfd", "gateway_edge": "#7c4fd0", "storage": "#e6f5ec", "storage_edge": "#1b7f4c", "efa": "#fff1e3", "efa_edge": "#c4610f",
}  # fmt: skip
"""Colours of a picture of the cluster, in light mode."""
PICTURE_DARK: Mapping[str, str] = {
    "frame": "#4b5768", "ground": "#141b24", "plain": "#202833", "plain_edge": "#7d8b9c", "control": "#15253f", "control_edge": "#5b9bff",
    "gateway": "#271f3d", "gateway_edge": "#a685f0", "storage": "#122b1f", "storage_edge": "#45b97c", "efa": "#35210f", "efa_edge": "#ee9146",
}  # fmt: skip
"""The same in dark mode."""

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW, _WIDE = frozenset(" !'()*,-./:;I[]fijlrt|"), frozenset("%&@MWmw—…")
_NARROW_EM, _PLAIN_EM, _CAPITAL_EM, _WIDE_EM, _OTHER_EM = 0.42, 0.64, 0.76, 1.0, 1.1
_BOLD_FACTOR = 1.12


def escaped(text: str) -> str:
    """Text that is safe in XML and HTML, between tags and in attributes; what XML forbids becomes U+FFFD."""
    return html.escape(_NOT_XML.sub("\ufffd", text), quote=True)


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Width in pixels, rather too large than too small: measured on DejaVu Sans, the widest of the usual fonts."""
    return sum(_em(character) for character in text) * size * (_BOLD_FACTOR if bold else 1)


def themed_style(fixed: str, colours: str, light: Mapping[str, str] | None = None, dark: Mapping[str, str] | None = None) -> str:
    """A style element: rules without colours once, and rules with `$name` for a colour in light and in dark mode.

    Colours are written out instead of being CSS variables, which viewers outside a browser do not know. Paper is light.
    """
    template = Template(colours)
    by_day, by_night = template.substitute({**LIGHT, **(light or {})}), template.substitute({**DARK, **(dark or {})})
    return f"<style>{fixed}{by_day}@media screen and (prefers-color-scheme:dark){{{by_night}}}</style>"


def svg_document(kind: str, words: str, size: tuple[float, float], style: str, parts: Iterable[str]) -> str:
    """A standalone SVG with its own ground, so that it stays readable on a page of the other mode.

    `kind` is the class that the style's rules begin with: inlined in a page, rules of one picture reach all others.
    """
    width, height = (f"{length:.0f}" for length in size)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="img" aria-label="{escaped(words)}" '
    head += f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    return "\n".join([head, style, f'<rect class="paper" width="{width}" height="{height}" rx="8"/>', *parts, "</svg>\n"])


def _em(character: str) -> float:
    if character in _NARROW:
        return _NARROW_EM
    if character in _WIDE:
        return _WIDE_EM
    if not character.isascii():
        return _OTHER_EM
    return _CAPITAL_EM if character.isupper() else _PLAIN_EM
