"""Addresses and ports of one control plane: others on this machine, of a second test worker or of another run, have other ones.

Pod 10.N.a.b is whatever listens on 127.N.a.b (egress.py), so that two control planes with one range would reach each other's pods. Ports
lie below those that the system gives to connections (32768 and above, net.ipv4.ip_local_port_range): one that was free when it was
chosen is still free when a program listens on it some seconds later.
"""

import socket

FIRST, END = 64, 250
"""Second parts of the ranges: those below are of the nodes and the VPC."""
MARK, MARK_PORT = "255.254", 10250
"""A range is taken while something listens here in it. kwok gives its pods addresses from the other end."""
FIRST_PORT, PORTS = 20_000, 64
"""Where the ports of the first range begin, and how many each range has."""


class Ranges:
    """One range of each that is this process's until `close`, or until the process ends."""

    def __init__(self) -> None:
        """Raises RuntimeError where all are taken."""
        for number in range(FIRST, END):
            self._mark = socket.socket()
            try:
                self._mark.bind((f"127.{number}.{MARK}", MARK_PORT))
            except OSError:
                self._mark.close()
                continue
            self.number, self._last_port = number, PORTS - 1
            return
        raise RuntimeError(f"other control planes have all ranges from 10.{FIRST}.0.0/16 to 10.{END - 1}.0.0/16")

    @property
    def pods(self) -> str:
        """Range of the pods' addresses."""
        return f"10.{self.number}.0.0/16"

    def ports(self, count: int) -> list[int]:
        """Ports of 127.0.0.1 that nothing listens on, different ones, and others the next time. Raises RuntimeError where too few are left."""
        first = FIRST_PORT + (self.number - FIRST) * PORTS
        found: list[int] = []
        for _ in range(PORTS):
            if len(found) == count:
                break
            self._last_port = (self._last_port + 1) % PORTS
            if is_free(first + self._last_port):
                found.append(first + self._last_port)
        if len(found) < count:
            raise RuntimeError(f"{count} ports are wanted, and from {first} to {first + PORTS - 1} {len(found)} are free")
        return found

    def close(self) -> None:
        """Leave them to others."""
        self._mark.close()


def is_free(port: int) -> bool:
    """Whether nothing listens on a port of loopback."""
    with socket.socket() as trial:
        # As the API server listens: connections that have ended do not count.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Ports on loopback that nothing listens on, different ones, of those that the system gives to connections."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
