"""Where the workers of a campaign live: on this machine (`opera.campaign.crew`), or on those of a Ray cluster."""
