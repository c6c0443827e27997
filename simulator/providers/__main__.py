"""The providers as a process of their own, so that it can die without the process that started it.

Prints one line, what PULUMI_DEBUG_PROVIDERS must hold, and serves until standard input ends, as it does when the
process that started it is gone.
"""

import argparse
import sys
from pathlib import Path

from simulator.account.cluster import RealCluster
from simulator.account.disk import AccountInUse, DamagedAccount, held
from simulator.account.faults import Faults
from simulator.faults_syntax import parse_fault
from simulator.providers.calls import FAULT, Call, CallLog
from simulator.providers.cloud import Cloud
from simulator.providers.pace import Pace
from simulator.providers.serve import serving


def main(cluster: RealCluster | None = None) -> int:
    """Serve the cloud of one folder. `cluster`: a real API server for its Kubernetes half."""
    parser = argparse.ArgumentParser(prog="python -m simulator.providers", description=__doc__)
    parser.add_argument("world", type=Path, help="folder of the objects")
    parser.add_argument("--calls", type=Path, required=True, help="file for the calls, one line each")
    parser.add_argument("--time-scale", type=float, default=0.0, help="real seconds for each virtual one")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME@RESOURCE[:TIMES]")
    options = parser.parse_args()
    try:
        with held(options.world):
            log = CallLog(options.calls)
            faults = Faults.of(map(parse_fault, options.fault))
            faults.on_strike = lambda fault, urn: log.add(Call(FAULT, "", urn, fault=fault))
            with serving(Cloud.load(options.world, faults, cluster), Pace(options.time_scale), log) as attach:
                print(attach, flush=True)
                sys.stdin.read()
    except (DamagedAccount, AccountInUse) as error:
        print(f"{error}\n\nhint: {error.hint}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
