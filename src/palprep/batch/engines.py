"""Which engine a run works with: worker processes here, or a cluster.

Only media work goes through an engine. Requests to the service never do: an engine may run a task
twice.
"""

from __future__ import annotations

from palprep.batch.carrying import CarryingEngine
from palprep.batch.cluster import DaskEngine
from palprep.batch.kept_files import InFolder, KeptFiles
from palprep.batch.originals import Bring, bring_here
from palprep.errors import UsageError
from palprep.preflight import INSIDE
from palprep.storage.bucket import Bucket
from palprep.workers.engine import Engine, Limits
from palprep.workers.local import LocalEngine


def make_engine(
    name: str = "local",
    *,
    jobs: int | None = None,
    store: str | None = None,
    limits: Limits | None = None,
) -> Engine:
    """``local``, or ``dask://HOST:PORT``. Raises UsageError for anything else.

    With ``store``, the URL of a bucket, a cluster's workers need to see no file of this machine.
    """
    if name.startswith("dask://"):
        if store is None:
            return DaskEngine(name, limits=limits)
        bucket = Bucket(store)
        cluster = DaskEngine(name, limits=limits)
        try:
            return CarryingEngine(cluster, bucket)
        except BaseException:
            cluster.close()
            raise
    if name != "local":
        raise UsageError(f"There is no engine {name!r}: give local or dask://HOST:PORT")
    if store is not None:
        raise UsageError("--store is for a cluster's workers: give --engine dask://HOST:PORT, too")
    return LocalEngine(jobs, limits=limits, modules=[INSIDE])


def files_of(engine: Engine) -> KeptFiles:
    """Where the files are that the engine's workers prepare."""
    return engine.files if isinstance(engine, CarryingEngine) else InFolder()


def bring_of(engine: Engine) -> Bring:
    """How sources that lie elsewhere come to where the engine's workers find them."""
    return engine.bring if isinstance(engine, CarryingEngine) else bring_here
