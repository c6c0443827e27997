"""The programs of the `kubernetes` tier, built from Go modules: each folder of `tools/` pins one, and is built where its binary is missing.

`python -m local_kubernetes.build` builds what is missing and says how long it took. Binaries are kept below the user's cache
folder (`$XDG_CACHE_HOME/trn/tools`, else `~/.cache/trn/tools`; `TRN_TOOLS` names another) in a folder per pin and Go release:
another pin is another folder, and nothing there is ever changed. Go's own caches are Go's.

    tools = build.tools("kubernetes", "etcd", "kwok")      # builds, or raises Missing
    tools["kube-apiserver"], tools["kwok"]                 # paths of programs
    build.module_file("kwok", "sigs.k8s.io/kwok", "kustomize/stage/pod/fast/pod-ready.yaml")
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "tools"
ENVIRONMENT = {"CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false -mod=readonly -trimpath", "GOWORK": "off"}
"""Static programs without a path of this machine in them: packages that two tools share are compiled once."""
OFFLINE = ("dial tcp", "proxy", "no such host", "i/o timeout")
"""What Go says where modules cannot be had."""


class Missing(Exception):
    """There is no Go, or its modules cannot be had: the reason for a skip."""


@dataclass(frozen=True)
class Tool:
    """One Go module of tools/ and what is built of it."""

    module: str
    """The upstream module, whose version is the pin."""
    programs: Mapping[str, str]
    """Names that programs are started by, and the package of each: the folder's own main package is `.`. Names with the same package
    are one binary."""
    version_variables: tuple[str, ...] = ()
    """What the program says it is: variables of Go's and their values, with `{version}`, `{major}` and `{minor}` for parts of the pin."""
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Manifests kept beside the binary, by module: the module cache may be emptied."""
    adds_to: tuple[str, ...] = ()
    """Modules to which the files of `additions/MODULE` are added: what the published module lacks."""


_KUBERNETES_VERSIONS = tuple(
    f"{package}.{variable}"
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    for variable in ("gitVersion={version}", "gitMajor={major}", "gitMinor={minor}")
)
_KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
_VOLCANO = ("controller-manager", "scheduler", "webhook-manager")
TOOLS: Mapping[str, Tool] = {
    "kubernetes": Tool("k8s.io/kubernetes", dict.fromkeys(_KUBERNETES, "."), _KUBERNETES_VERSIONS),
    "etcd": Tool("go.etcd.io/etcd/server/v3", {"etcd": "go.etcd.io/etcd/server/v3"}),
    "kwok": Tool(
        "sigs.k8s.io/kwok", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"}, ("sigs.k8s.io/kwok/pkg/consts.Version={version}",),
        files={"sigs.k8s.io/kwok": ("kustomize/stage/node/*/*.yaml", "kustomize/stage/pod/fast/*.yaml")},
    ),
    "helm": Tool("helm.sh/helm/v3", {"helm": "helm.sh/helm/v3/cmd/helm"}, ("helm.sh/helm/v3/internal/version.version={version}",)),
    "volcano": Tool(
        "volcano.sh/volcano", {f"vc-{name}": f"volcano.sh/volcano/cmd/{name}" for name in _VOLCANO}, adds_to=("volcano.sh/apis",)
    ),
    "training-operator": Tool(
        "github.com/kubeflow/training-operator", {"training-operator": "."},
        files={"github.com/kubeflow/training-operator": ("manifests/base/crds/*.yaml",)},
    ),
    "registry": Tool("github.com/distribution/distribution/v3", {"registry": "github.com/distribution/distribution/v3/cmd/registry"}),
    "kubelet-streams": Tool("k8s.io/kubelet", {"kubelet-streams": "."}),
    "trainer": Tool(
        "github.com/kubeflow/trainer/v2", {"trainer": "."},
        files={
            "github.com/kubeflow/trainer/v2": ("manifests/base/crds/*.yaml", "manifests/base/rbac/*.yaml", "manifests/base/webhook/*.yaml"),
            "sigs.k8s.io/jobset": ("config/components/crd/bases/*.yaml",),
        },
    ),
    "jobset": Tool(
        "sigs.k8s.io/jobset", {"jobset": "sigs.k8s.io/jobset"},
        files={"sigs.k8s.io/jobset": ("config/components/crd/bases/*.yaml", "config/components/webhook/manifests.yaml")},
    ),
    "mpi-operator": Tool(
        "github.com/kubeflow/mpi-operator", {"mpi-operator": "github.com/kubeflow/mpi-operator/cmd/mpi-operator"},
        files={"github.com/kubeflow/mpi-operator": ("manifests/base/kubeflow.org_mpijobs.yaml",)},
    ),
    "kuberay": Tool(
        "github.com/ray-project/kuberay/ray-operator", {"ray-operator": "github.com/ray-project/kuberay/ray-operator"},
        files={"github.com/ray-project/kuberay/ray-operator": ("config/crd/bases/*.yaml",)},
    ),
}  # fmt: skip


def version(name: str) -> str:
    """The pin of a tool, as its go.mod has it: `v1.35.4`."""
    module = TOOLS[name].module
    lines = (line.removeprefix("require ").split() for line in (FOLDER / name / "go.mod").read_text().splitlines())
    return next(words[1] for words in lines if len(words) >= 2 and words[0] == module)


def tools(*names: str, built: Callable[[str, float], None] = lambda name, seconds: None) -> dict[str, Path]:
    """Path of every program of these tools, those that are missing built. `built` hears of each build and its seconds. Raises Missing."""
    return {program: _kept(name, built) / program for name in names for program in TOOLS[name].programs}


def there(name: str) -> bool:
    """Whether a tool has been built before. Raises Missing without Go, of whose release it must be."""
    return _place(name).is_dir()


def module_file(name: str, module: str, path: str) -> Path:
    """A manifest that came with a module of a tool that has been built."""
    return _place(name) / "files" / module / path


def _kept(name: str, built: Callable[[str, float], None]) -> Path:
    place = _place(name)
    # Two runs at once: the second waits for the first and finds it done.
    with _alone(place):
        if not place.is_dir():
            begun = time.monotonic()
            _build(name, place)
            built(name, time.monotonic() - begun)
    return place


def _place(name: str) -> Path:
    return _cache() / f"{name}-{version(name)}-{_key(name)}"


def _cache() -> Path:
    given = os.environ.get("TRN_TOOLS")
    return Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trn/tools"


def _key(name: str) -> str:
    """Of everything that the binary is made of."""
    parts = [json.dumps([ENVIRONMENT, _go_version(), repr(TOOLS[name])])]
    parts += [path.read_text() for path in sorted((FOLDER / name).rglob("*")) if path.is_file()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


@cache
def _go_version() -> str:
    return _go(FOLDER / "kubernetes", "env", "GOVERSION").strip()


def _build(name: str, place: Path) -> None:
    """Into a folder of its own, which takes its name when all is in it: a build that is killed leaves nothing that looks whole."""
    tool, source = TOOLS[name], FOLDER / name
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{name}-") as temporary:
        made = Path(temporary) / "made"
        made.mkdir()
        major, minor, _ = version(name).removeprefix("v").split(".")
        variables = [text.format(version=version(name), major=major, minor=minor) for text in tool.version_variables]
        flags = ["-ldflags", " ".join(["-s", "-w", *(f"-X {variable}" for variable in variables)])]
        flags += _with_additions(tool, source, Path(temporary))
        built: dict[str, str] = {}
        for program, package in tool.programs.items():
            if package in built:
                (made / program).symlink_to(built[package])
            else:
                built[package] = program
                _go(source, "build", *flags, "-o", str(made / program), package)
        for module, patterns in tool.files.items():
            root = _module_folder(source, module)
            for path in (found for pattern in patterns for found in root.glob(pattern)):
                target = made / "files" / module / path.relative_to(root)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
        made.rename(place)


def _with_additions(tool: Tool, source: Path, temporary: Path) -> list[str]:
    """Flags under which modules are taken from copies with our files in them; Go lets no file be added in its cache."""
    if not tool.adds_to:
        return []
    for name in ("go.mod", "go.sum"):
        shutil.copyfile(source / name, temporary / name)
    for module in tool.adds_to:
        copy = temporary / "copies" / module
        shutil.copytree(_module_folder(source, module), copy, copy_function=shutil.copyfile)
        for folder in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
            folder.chmod(0o755)
        shutil.copytree(source / "additions" / module, copy, dirs_exist_ok=True)
        _go(source, "mod", "edit", f"-replace={module}={copy}", str(temporary / "go.mod"))
    return [f"-modfile={temporary / 'go.mod'}"]


def _module_folder(source: Path, module: str) -> Path:
    _go(source, "mod", "download", module)
    return Path(_go(source, "list", "-m", "-f", "{{.Dir}}", module).strip())


def _go(folder: Path, *arguments: str) -> str:
    go = shutil.which("go")
    if go is None:
        raise Missing("there is no Go to build a control plane with")
    done = subprocess.run([go, *arguments], cwd=folder, env=os.environ | ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode and any(words in done.stderr for words in OFFLINE):
        raise Missing(f"Go's modules cannot be had here: {done.stderr.strip().splitlines()[-1]}")
    if done.returncode:
        raise RuntimeError(f"go {' '.join(arguments)} in {folder}:\n{done.stderr}")
    return done.stdout


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    place.parent.mkdir(parents=True, exist_ok=True)
    with (place.parent / f".{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> None:
    """Build what is missing, those that are named or all. Where nothing can be built, say why: the tests then skip."""
    for name in sys.argv[1:] or TOOLS:
        said: list[str] = []
        try:
            tools(name, built=lambda _, seconds, said=said: said.append(f"built in {seconds:.0f} s"))
        except Missing as error:
            said.append(f"not built: {error}")
        print(f"{name:20} {version(name):10} {said[0] if said else 'there already'}", flush=True)


if __name__ == "__main__":
    main()
