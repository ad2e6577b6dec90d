"""The workforce that `--on` asks for. Engines are extras, and are imported here alone, when they are asked for."""

from __future__ import annotations

from importlib.util import find_spec

from fuzzer.engines.baggage import pack
from fuzzer.engines.cluster import Cluster
from fuzzer.engines.cluster_workforce import ClusterWorkforce
from fuzzer.errors import EnvironmentFault, of_system
from fuzzer.processes.pool import Pool
from fuzzer.processes.workforce import Workforce
from fuzzer.protocol import Plan
from fuzzer.settings import ALL_SEATS, Settings, available_cpus

_PACKAGES = {"dask": ("dask", "distributed"), "ray": ("ray", "grpc")}
"""What the extra of an engine brings."""
_PORTS = {"dask": 8786, "ray": 10001}
"""Where a scheduler of Dask and a server for clients of Ray listen by default."""
AUTO = "auto"
"""The address of the Ray cluster that this machine is a node of."""


def workforce_of(settings: Settings, plan: Plan, hash_seed: int) -> Workforce:
    """Worker processes of this machine, or seats on a cluster. Raises EnvironmentFault where an engine does not answer
    or is not installed, UsageError for an address that cannot be one."""
    if settings.on == "local":
        return Pool(plan, settings.jobs, hash_seed)
    cluster = _cluster(settings, plan)
    return ClusterWorkforce(cluster, plan, hash_seed, settings.jobs or ALL_SEATS, settings.cases)


def _cluster(settings: Settings, plan: Plan) -> Cluster:
    engine, _, address = settings.on.partition("://")
    _require(engine)
    address = _with_port(engine, address)
    try:
        baggage = pack(plan)
    except OSError as error:
        raise EnvironmentFault(f"a file that the workers need cannot be read: {of_system(error)}") from error
    workers = settings.jobs or available_cpus()
    try:
        if engine == "dask":
            from fuzzer.engines import dask_cluster as clusters
        else:
            from fuzzer.engines import ray_cluster as clusters  # type: ignore[no-redef]
    except ImportError as error:
        raise _unusable(engine, f"what is installed cannot be imported ({error})") from error
    return clusters.connect(address, baggage) if address else clusters.start(workers, baggage)


def _with_port(engine: str, address: str) -> str:
    """The address with the engine's port where it has none."""
    if not address or address == AUTO or address.rpartition(":")[2].isdigit():
        return address
    return f"{address}:{_PORTS[engine]}"


def _require(engine: str) -> None:
    """Raises EnvironmentFault where the extra of an engine is not installed."""
    for package in _PACKAGES[engine]:
        if find_spec(package) is None:
            raise _unusable(engine, f"{package} is not installed")


def _unusable(engine: str, why: str) -> EnvironmentFault:
    return EnvironmentFault(f"--on {engine}: {why}; pip install 'passfuzz[{engine}]'")
