"""Words for times, types and counts."""

import pytest

from simulator.report.words import duration, plural, short_type


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.01, "0.1 s"),
        (0.4, "0.4 s"),
        (0.97, "1 s"),
        (12.4, "12 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (845, "14 min 05 s"),
        (1065.2, "17 min 45 s"),
        (3599.7, "1 h 00 min"),
        (3720, "1 h 02 min"),
        (90_000, "25 h 00 min"),
    ],
)
def test_a_duration_reads_as_people_say_it(seconds: float, words: str):
    """A carry that goes wrong shows as `59 min 60 s` in the heading everyone reads."""
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("token", "word"),
    [
        ("aws:eks/nodeGroup:NodeGroup", "NodeGroup"),
        ("kubernetes:helm.sh/v3:Release", "Release"),
        ("eks:index:Cluster", "Cluster"),
        ("plain", "plain"),
    ],
)
def test_a_short_type_is_the_last_word_of_its_token(token: str, word: str):
    """Labels have no room for the token, and its last word is what AWS and Kubernetes call the thing."""
    assert short_type(token) == word


@pytest.mark.parametrize(("count", "noun", "words"), [(1, "zone", "1 zone"), (0, "level", "0 levels"), (2, "registry", "2 registries")])
def test_a_count_agrees_with_its_noun(count: int, noun: str, words: str):
    """`1 zones` on a picture looks like a mistake in the numbers as well."""
    assert plural(count, noun) == words
