"""Runs an analysis with the package, for tests: prints what came of it as JSON. Tries are short, so that faults take little time."""

import json
import sys

import posta
import posta.wire

posta.wire.TRY = 0.3
options = json.loads(sys.argv[1])
entry, do, patience = options.pop("entry"), options.pop("do"), options.pop("patience", 60.0)
posta.wire.PATIENCE = patience
try:
    with posta.connect(entry, patience=patience) as cluster:
        if do == "run":
            result = cluster.run("bikes", **options)
        elif do == "results":
            result = cluster.results(options["session"])
        else:
            cluster.cancel(options["session"])
            sys.exit()
    print(json.dumps({"rows": {t.name: t.rows for t in result.tables.values()}, "rejected": {s: r.rows for s, r in result.rejected.items()}, "notes": result.notes}))
except posta.Error as err:
    print(json.dumps({"error": type(err).__name__, "code": err.code, "text": str(err)}))
except KeyboardInterrupt:
    print(json.dumps({"error": "KeyboardInterrupt"}))
