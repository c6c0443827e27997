"""Logs on disk and what a request wants of them; times as the API writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kubernetes.kubelet.log_lines import BadRequest, Wanted, format_line, read_query, select
from tests.kubernetes.kubelet.shim import MOST_LINE_BYTES, split_lines
from tests.kubernetes.kubelet.times import as_precise_text, as_seconds, as_text

LINES = [
    format_line("2026-11-22T10:00:00.000001Z", "stdout", b"one", full=True),
    format_line("2026-11-22T10:00:05.000000Z", "stderr", b"two", full=True),
    format_line("2026-11-22T10:00:09.500000Z", "stdout", b"thr", full=False),
    format_line("2026-11-22T10:00:09.500000Z", "stdout", b"ee", full=True),
]


def test_a_log_is_printed_without_its_times():
    """Parts of a line are one line."""
    assert select(LINES, Wanted()) == b"one\ntwo\nthree\n"


def test_times_are_printed_where_they_are_asked_for():
    """`kubectl logs --timestamps`."""
    assert select(LINES[:1], Wanted(timestamps=True)) == b"2026-11-22T10:00:00.000001Z one\n"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"tailLines": "1"}, b"ee\n"),
        ({"tailLines": "0"}, b""),
        ({"sinceTime": "2026-11-22T10:00:05Z"}, b"two\nthree\n"),
        ({"sinceSeconds": "7"}, b"two\nthree\n"),
        ({"limitBytes": "5"}, b"one\nt"),
    ],
)
def test_a_part_of_a_log(query, text):
    """Each of `kubectl logs`'s limits."""
    assert select(LINES, read_query(query, as_seconds("2026-11-22T10:00:10Z"))) == text


def test_a_query_that_is_no_number_is_a_bad_request():
    """And not a crash of the endpoint."""
    with pytest.raises(BadRequest):
        read_query({"tailLines": "many"}, 0.0)


def test_a_line_that_is_being_written_is_not_shown():
    """Its rest comes with the next look."""
    assert select([*LINES[:1], b"2026-11-22T10:00:06Z stdout F hal"], Wanted()) == b"one\n"


@given(st.lists(st.binary(max_size=40), max_size=12), st.booleans())
def test_what_a_program_prints_is_what_the_log_says(parts, ends):
    """However its output comes in pieces, and with a last line without an end."""
    written, rest = b"", b""
    for part in parts:
        lines, rest = split_lines("stdout", "2026-11-22T10:00:06.000000Z", rest + part, at_end=False)
        written += lines
    lines, rest = split_lines("stdout", "2026-11-22T10:00:06.000000Z", rest, at_end=True)
    assert rest == b""
    # splitlines() would also split at other characters.
    logged = [line + b"\n" for line in (written + lines).split(b"\n")[:-1]]
    assert select(logged, Wanted()) == b"".join(parts)


def test_a_long_line_is_kept_in_parts():
    """As container runtimes keep it, so that one line cannot fill the memory."""
    text = b"x" * (2 * MOST_LINE_BYTES + 5)
    lines, rest = split_lines("stdout", "2026-11-22T10:00:06Z", text + b"\n", at_end=False)
    assert (lines.count(b"\n"), rest) == (3, b"")
    assert select(lines.splitlines(keepends=True), Wanted()) == text + b"\n"


@given(st.floats(0, 4e9))
def test_times_are_read_as_they_are_written(seconds):
    """To the second, or to the microsecond."""
    assert as_seconds(as_text(seconds)) == int(seconds)
    assert as_seconds(as_precise_text(seconds)) == pytest.approx(seconds, abs=2e-6)


def test_times_of_another_zone_are_understood():
    """A user of the API may give `sinceTime` in any."""
    assert as_seconds("2026-11-22T12:00:00+02:00") == as_seconds("2026-11-22T10:00:00Z")
    assert as_seconds("2026-11-22T10:00:00.123456789Z") == pytest.approx(as_seconds("2026-11-22T10:00:00Z") + 0.123456789)
