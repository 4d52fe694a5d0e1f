"""A Ray cluster of several nodes on this machine, run by an interpreter that has Ray: prints its address, then does what it is told.

`kill` on standard input kills one node with all that runs on it; the end of standard input ends the cluster.
"""

from __future__ import annotations

import sys

from ray.cluster_utils import Cluster

if __name__ == "__main__":
    nodes = int(sys.argv[1])
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    others = [cluster.add_node(num_cpus=2) for _ in range(nodes)]
    cluster.wait_for_nodes()
    print(cluster.address, flush=True)
    for _ in sys.stdin:
        cluster.remove_node(others.pop(), allow_graceful=False)
        print("killed", flush=True)
    cluster.shutdown()
