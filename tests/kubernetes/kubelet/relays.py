"""Ways into the pods' network: services with an own address, for pods, and one for the API server.

A connection to a service is passed on to one of its endpoints, in turn (TCP only). The API server's egress proxy asks for a pod's
address and port by HTTP CONNECT on a Unix socket.
"""

import asyncio
import itertools
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.kubernetes.kubelet.backends import Backend, Front
from tests.kubernetes.kubelet.network import Network

MOST_BYTES = 65536
CONNECT_S = 5.0
"""A pod that is gone does not answer at all."""
_log = logging.getLogger(__name__)


class Relays(threading.Thread):
    """One event loop for all services; ends with the process."""

    def __init__(self, network: Network, way: Path | None = None) -> None:
        """`way`: the Unix socket to make."""
        super().__init__(daemon=True, name="relays")
        self._network, self._way, self._loop = network, way, asyncio.new_event_loop()
        self._servers: dict[Front, asyncio.Server] = {}
        self._wanted: dict[Front, tuple[Backend, ...]] = {}
        self._turns: Iterator[int] = itertools.count()

    def run(self) -> None:
        """The loop."""
        if self._way:
            self._way.unlink(missing_ok=True)
            self._loop.run_until_complete(asyncio.start_unix_server(self._lead, self._way))
        self._loop.run_forever()

    def close(self) -> None:
        """No way leads in any more."""
        if self._way:
            self._way.unlink(missing_ok=True)

    def update(self, wanted: dict[Front, tuple[Backend, ...]]) -> None:
        """From now on these services are served, by these endpoints; for any thread."""
        asyncio.run_coroutine_threadsafe(self._renew(wanted), self._loop)

    async def _renew(self, wanted: dict[Front, tuple[Backend, ...]]) -> None:
        self._wanted = wanted
        for front in [front for front in self._servers if front not in wanted]:
            self._servers.pop(front).close()
        for front in [front for front in wanted if front not in self._servers]:
            try:
                listening = self._network.listen(*front)
            except OSError as error:
                _log.warning("service at %s:%s: %s", *front, error)
                continue
            self._servers[front] = await asyncio.start_server(
                lambda reader, writer, front=front: self._serve(front, reader, writer), sock=listening
            )

    async def _serve(self, front: Front, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until both sides have ended it."""
        behind = self._wanted.get(front)
        opened = [writer]
        try:
            if not behind:
                return
            there_reader, there_writer = await self._connect(behind[next(self._turns) % len(behind)])
            opened.append(there_writer)
            await asyncio.gather(_pass(reader, there_writer), _pass(there_reader, writer))
        except OSError as error:
            _log.info("service at %s:%s: %s", *front, error)
        finally:
            for each in opened:
                each.close()

    async def _lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of the API server's, until both sides have ended it."""
        opened = [writer]
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            address, _, port = head.split()[1].decode().rpartition(":")
            there_reader, there_writer = await asyncio.wait_for(self._connect(Backend(address, int(port))), CONNECT_S)
            opened.append(there_writer)
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await asyncio.gather(_pass(reader, there_writer), _pass(there_reader, writer))
        except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError) as error:
            _log.info("way to a pod: %s", error)
            if len(opened) == 1:
                writer.write(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
        finally:
            for each in opened:
                each.close()

    async def _connect(self, backend: Backend) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        made = self._network.tcp_socket() if backend.in_pods_network else socket.socket()
        made.setblocking(False)
        try:
            await self._loop.sock_connect(made, (backend.address, backend.port))
        except OSError:
            made.close()
            raise
        return await asyncio.open_connection(sock=made)


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Bytes from one side to the other; the end too."""
    with suppress(ConnectionError):
        while part := await reader.read(MOST_BYTES):
            writer.write(part)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
