"""The way from the API server into the cluster's network: pods and nodes have addresses as on EKS, and what listens for them is on loopback.

An API server reaches webhooks, kubelets and the pods behind `services/proxy` through what its egress selector names: on EKS
interfaces in the cluster's subnets, here this proxy (HTTP CONNECT on a Unix socket; kubernetes.io, Konnectivity). An address
`10.a.b.c` is tried as `127.a.b.c`, which every Linux machine has without any set-up, and then as 127.0.0.1, at the same port.
So a pod with the address 10.64.3.5 is whatever listens on 127.64.3.5, and a kubelet may listen on 127.0.0.1 for all its nodes.
Any other address is asked for at the sockets beside the proxy's own whose names end in `.ways`: kubelets whose pods have a network
make one (kubelet/relays.py), and pass on what is theirs.

Started as a program with the socket's path. Standard library only.
"""

import asyncio
import sys
from pathlib import Path

NETWORK = "10."
WAYS = ".ways"
CHUNK = 65_536
ESTABLISHED = b"HTTP/1.1 200 OK\r\n\r\n"
REFUSED = b"HTTP/1.1 502 Bad Gateway\r\n\r\n"


def candidates(host: str) -> tuple[str, ...]:
    """Loopback addresses at which to look for one of the cluster's network, best first; none for any other address."""
    if not host.startswith(NETWORK):
        return ()
    return ("127." + host.removeprefix(NETWORK), "127.0.0.1")


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except (ConnectionError, OSError):
        writer.close()


async def _connected(host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    for address in candidates(host):
        try:
            return await asyncio.open_connection(address, port)
        except OSError:
            continue
    for way in () if candidates(host) else sorted(Path(sys.argv[1]).parent.glob(f"*{WAYS}")):
        try:
            reader, writer = await asyncio.open_unix_connection(way)
            writer.write(f"CONNECT {host}:{port} HTTP/1.1\r\n\r\n".encode())
            if (await reader.readuntil(b"\r\n\r\n")).startswith(ESTABLISHED[:12]):
                return reader, writer
            writer.close()
        except (OSError, asyncio.IncompleteReadError):
            continue
    return None


async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one CONNECT and carry bytes both ways until both sides have ended."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
        return
    method, target, *_ = head.decode().split()
    host, _, port = target.rpartition(":")
    found = await _connected(host.strip("[]"), int(port)) if method == "CONNECT" else None
    writer.write(ESTABLISHED if found else REFUSED)
    if found:
        await asyncio.gather(_pump(reader, found[1]), _pump(found[0], writer))
        found[1].close()
    writer.close()


async def main() -> None:
    """Serve until killed."""
    async with await asyncio.start_unix_server(serve_one, sys.argv[1]) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
