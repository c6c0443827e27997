"""Gradients travel in messages of a bounded size, each tensor once and in order."""

from hypothesis import given
from hypothesis import strategies as st

from tests.training.recipe_files import module

buckets = module("shared", "buckets")


@given(st.lists(st.integers(0, 100)), st.integers(1, 150))
def test_every_tensor_is_in_one_message_in_order(sizes, limit):
    assert [number for part in buckets.of(sizes, limit) for number in part] == list(range(len(sizes)))


@given(st.lists(st.integers(1, 100), min_size=1), st.integers(1, 150))
def test_a_message_is_no_larger_than_the_limit_or_one_tensor(sizes, limit):
    assert all(len(part) == 1 or sum(sizes[number] for number in part) <= limit for part in buckets.of(sizes, limit))


def test_bert_large_does_not_travel_in_one_piece():
    """1.3 GB; its largest tensor, the token table of 125 MB, is one of them."""
    layer = [4 * 1024 * 3072, 4 * 1024 * 1024, 4 * 1024 * 4096, 4 * 4096 * 1024]
    assert len(buckets.of([4 * 30522 * 1024, *layer * 24])) > 24
