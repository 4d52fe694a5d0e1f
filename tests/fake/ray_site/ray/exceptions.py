"""The exceptions that `opera.extensions.ray.pool` names."""


class RayError(Exception):
    pass


class RayTaskError(RayError):
    pass
