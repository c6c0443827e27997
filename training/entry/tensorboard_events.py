"""TensorBoard's event files: scalars by step, written without TensorBoard.

One of the files that every pod has under /trn: standard library only, Python 3.9 or later. Form: records of a length, its masked CRC-32C,
data and its masked CRC-32C (tensorflow/core/lib/io/record_writer.cc); data is a message Event (tensorflow/core/util/event.proto: 1 wall_time,
2 step, 3 file_version, 5 summary; summary.proto: 1 value with 1 tag and 2 simple_value).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

_POLYNOMIAL = 0x82F63B78
_MASK = 0xA282EAD8


def _row(value: int) -> int:
    for _ in range(8):
        value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
    return value


_TABLE = [_row(value) for value in range(256)]


def checksum(data: bytes) -> int:
    """CRC-32C (RFC 3720, B.4)."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def record(data: bytes) -> bytes:
    """One record of a file."""
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _masked(data: bytes) -> bytes:
    value = checksum(data)
    return struct.pack("<I", ((value >> 15 | value << 17) + _MASK) & 0xFFFFFFFF)


def version(time: float) -> bytes:
    """The record that every file begins with."""
    return record(b"\x09" + struct.pack("<d", time) + b"\x1a\x0dbrain.Event:2")


def scalars(step: int, time: float, values: Mapping[str, float]) -> bytes:
    """The record of one step."""
    summary = b""
    for tag, value in values.items():
        name = tag.encode()
        entry = b"\x0a" + _varint(len(name)) + name + b"\x15" + struct.pack("<f", value)
        summary += b"\x0a" + _varint(len(entry)) + entry
    return record(b"\x09" + struct.pack("<d", time) + b"\x10" + _varint(step) + b"\x2a" + _varint(len(summary)) + summary)


def _varint(value: int) -> bytes:
    found = b""
    while value > 0x7F:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])
