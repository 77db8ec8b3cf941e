"""Posta from Python: SQL and analyses over large files on a cluster, each record counted exactly once.

    import posta

    cluster = posta.connect("tcp://10.0.0.5:5500")        # posta.connect(): the cluster of topology.toml here
    cluster.run("bikes", data="data/bikes")["rain"].to_pandas()
    cluster.sql("SELECT city, avg(km) FROM trips GROUP BY city", data="data").rows

    posta.sql("SELECT count(*) FROM trips", data="data")  # no cluster at hand: one is started for the statement

Analyses go over the wire, with nothing but ZeroMQ and msgpack. SQL needs the program posta: it compiles statements, and there shall be one compiler, so that a
statement means the same everywhere.
"""

from .cluster import Analysis, Cluster, Param, Session, connect, explain, sql
from .errors import (
    BadParam,
    Busy,
    Error,
    InputError,
    MissingPackage,
    NoCluster,
    NoProgram,
    Refused,
    RowsRejected,
    SessionFailed,
    SessionGone,
    SessionInUse,
    StatementError,
    Timeout,
    UnknownAnalysis,
)
from .progress import Display, Progress, Stream
from .result import Rejected, Result, Table

__all__ = [
    "Analysis",
    "BadParam",
    "Busy",
    "Cluster",
    "Display",
    "Error",
    "InputError",
    "MissingPackage",
    "NoCluster",
    "NoProgram",
    "Param",
    "Progress",
    "Refused",
    "Rejected",
    "Result",
    "RowsRejected",
    "Session",
    "SessionFailed",
    "SessionGone",
    "SessionInUse",
    "StatementError",
    "Stream",
    "Table",
    "Timeout",
    "UnknownAnalysis",
    "connect",
    "explain",
    "sql",
]
