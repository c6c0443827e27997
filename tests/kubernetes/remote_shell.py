"""`sshd` and `ssh` of an image for tests: a machine may have no SSH server. Named as either, it is that. Standard library only.

The server runs each command in a shell, as a session of SSH does, with the variables of its own image and none of its pod's job. The
client passes over options and sends the command. No key is looked at.
"""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

PORT = 22
KEPT = ("PATH", "LD_LIBRARY_PATH", "HOME", "PYTHONUNBUFFERED", "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


def serve() -> None:
    """Until it is ended."""
    own = {name: value for name, value in os.environ.items() if name in KEPT}

    def session(connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as sent:
            command = sent.read().decode()
            done = subprocess.run(["sh", "-c", command], env=own, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            connection.sendall(f"{done.returncode}\n".encode() + done.stdout + done.stderr)

    with socket.create_server(("", PORT)) as server:
        while True:
            threading.Thread(target=session, args=(server.accept()[0],), daemon=True).start()


def ask(words: list[str]) -> int:
    """Run a command at a host; its exit code."""
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in ("-o", "-p", "-i", "-l") else words[1:]
    host, *command = words
    with socket.create_connection((host, PORT)) as connection, connection.makefile("rb") as answer:
        connection.sendall(" ".join(command).encode())
        connection.shutdown(socket.SHUT_WR)
        code = int(answer.readline() or b"255")
        sys.stdout.buffer.write(answer.read())
    return code


if __name__ == "__main__":
    if Path(sys.argv[0]).name == "sshd":
        serve()
    sys.exit(ask(sys.argv[1:]))
