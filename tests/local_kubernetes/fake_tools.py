"""In place of kind, k3d and kwokctl, none of which makes a cluster without a container engine: a program that writes down what it is asked.

tool = FakeTool(tmp_path, "kind", kubeconfig=text)      # tool.folder belongs in front of PATH
tool.asked                                              # command lines without the program, in order
tool.clusters                                           # names of the clusters that it "has"
"""

from pathlib import Path

SCRIPT = """#!/bin/sh
# {name}: keeps its clusters as files.
asked=$*
echo "$asked" >> '{folder}/asked'
echo "$KUBECONFIG" >> '{folder}/kubeconfigs'
cluster=$3
while [ $# -gt 1 ]; do [ "$1" != --name ] || cluster=$2; shift; done
case "$asked" in
  *version*) echo '{name} version v9.8.7 linux/amd64' ;;
  "get clusters" | "cluster list"*) ls '{folder}/clusters' ;;
  "get kubeconfig"* | "kubeconfig get"*) cat '{folder}/kubeconfig' ;;
  "create cluster"* | "cluster create"*)
    touch "{folder}/clusters/$cluster"
    if [ -e '{folder}/dies' ]; then rm '{folder}/dies'; kill -9 $PPID; exit 0; fi
    if [ -e '{folder}/fails' ]; then echo 'no container engine answers' >&2; exit 1; fi ;;
  "delete cluster"* | "cluster delete"*)
    if [ -e '{folder}/keeps' ]; then echo 'the daemon does not answer' >&2; exit 1; fi
    rm -f "{folder}/clusters/$cluster" ;;
  *) echo "unknown: $asked" >&2; exit 2 ;;
esac
"""


class FakeTool:
    """One tool, alone in a folder."""

    def __init__(self, place: Path, name: str, kubeconfig: str = "") -> None:
        self.name, self._state, self.folder = name, place / f"{name}-state", place / f"{name}-bin"
        (self._state / "clusters").mkdir(parents=True)
        self.folder.mkdir()
        (self._state / "kubeconfig").write_text(kubeconfig)
        program = self.folder / name
        program.write_text(SCRIPT.format(name=name, folder=self._state))
        program.chmod(0o755)

    def will(self, how: str) -> None:
        """`fails`: creating; `keeps`: nothing is deleted; `dies`: whoever asks for a cluster is killed in the middle of it."""
        (self._state / how).touch()

    def will_not(self, how: str) -> None:
        """Take it back."""
        (self._state / how).unlink()

    def has(self, cluster: str) -> None:
        """Somebody made a cluster of this name."""
        (self._state / "clusters" / cluster).touch()

    @property
    def clusters(self) -> set[str]:
        """Names of the clusters that are there."""
        return {path.name for path in (self._state / "clusters").iterdir()}

    @property
    def asked(self) -> list[str]:
        """Command lines, without the program."""
        return self._lines("asked")

    @property
    def kubeconfigs(self) -> set[str]:
        """What the variable KUBECONFIG has said."""
        return set(self._lines("kubeconfigs"))

    def _lines(self, name: str) -> list[str]:
        path = self._state / name
        return path.read_text().splitlines() if path.exists() else []
