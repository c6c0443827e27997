"""Parts of written pages that are made by the code: between `<!-- NAME -->` and `<!-- /NAME -->`."""


def between(text: str, marker: str, content: str) -> str:
    """The page with the part replaced. Raises ValueError where it has no such part."""
    before, found, rest = text.partition(f"<!-- {marker} -->")
    _, ends, after = rest.partition(f"<!-- /{marker} -->")
    if not (found and ends):
        raise ValueError(f"the page has no part {marker}")
    return f"{before}<!-- {marker} -->{content}<!-- /{marker} -->{after}"
