"""The exceptions that `opera.workers.ray_pool` names."""


class RayError(Exception):
    pass


class RayTaskError(RayError):
    pass
