"""Run an analysis on a Posta cluster and print what `posta run --json` prints.

    python3 examples/python/bikes.py --entry ipc:///run/user/1000/posta-1a2b3c4d/input-1.client DIR

The package is in client/python: pip install ./client/python
"""

import argparse
import json
import sys

import posta


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--entry", help="endpoint of any input or output; without it the cluster of topology.toml")
    args.add_argument("--analysis", default="bikes")
    args.add_argument("--param", action="append", default=[], type=lambda p: p.split("=", 1), metavar="NAME=VALUE")
    args.add_argument("dir")
    args = args.parse_args()
    try:
        with posta.connect(args.entry) as cluster:
            result = cluster.run(args.analysis, args.dir, params=dict(args.param))
    except posta.Error as err:
        sys.exit(f"bikes.py: {err}")
    queries = {table.name: {"columns": table.columns, "rows": table.rows} for table in result.tables.values()}
    rejected = {
        stream: {"rows": r.rows, "first": [{"file": file, "line": line, "reason": reason} for file, line, reason in r.first]}
        for stream, r in result.rejected.items()
    }
    print(json.dumps({"analysis": result.analysis, "session": result.session, "queries": queries, "rejected": rejected}, ensure_ascii=False))


if __name__ == "__main__":
    main()
