"""A notebook as a script: an analysis and SQL over the data of `posta gen bikes --out DIR`, on the cluster of topology.toml.

    posta up && posta gen bikes --rows 100000 --out bikes
    python3 examples/python/notebook.py bikes
"""

# %% Connect: without an address to the cluster whose topology.toml is here.
import sys

import posta

DIR = sys.argv[1]
cluster = posta.connect()
print(cluster.name, cluster.version, [analysis.name for analysis in cluster.analyses()])

# %% Run an analysis, and look at one of its answers as a DataFrame.
states: list[str] = []
bikes = cluster.run("bikes", data=DIR, params={"rain_mm": 30}, progress=lambda p: states.append(p.state))
print("progress:", ", ".join(dict.fromkeys(states)) or "uploading")
rain = bikes["rain"].to_pandas()
print(f"rain: {len(rain)} days, {rain['trips'].sum()} trips; the longest on average: {rain.loc[rain['average_duration_sec'].idxmax(), 'date']}")
for stream, rejected in bikes.rejected.items():
    file, line, reason = rejected.first[0]
    print(f"{stream}: {rejected.rows} rows rejected, the first in {file}:{line}: {reason}")

# %% Ask the same files in SQL, here and on a cluster that lives for one statement: each counts each row once.
STARTS = """
    SELECT _file, count(*) AS trips, avg(duration_sec) AS seconds
    FROM '*/trips.csv'
    GROUP BY _file
"""
starts = cluster.sql(STARTS, data=DIR)
print(starts)
print("the same on a cluster of its own:", starts.rows == posta.sql(STARTS, data=DIR, replicas="all=2").rows)

# %% Mistakes are exceptions with Posta's words.
try:
    cluster.sql("SELECT cty FROM '*/stations.csv'", data=DIR)
except posta.StatementError as err:
    print(err)

cluster.close()
