"""Where the workers of a campaign live: on this machine (`opera.workers.pool`), or on those of a Ray cluster."""
