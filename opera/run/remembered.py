"""What the workers of a campaign said of themselves, for the next run of the same command.

A campaign whose tests all have results starts no worker, if nothing that decides the versions of compiler and library has changed.
"""

from __future__ import annotations

import hashlib

from opera.difftest.session import SubjectSession
from opera.environments.state import state_of
from opera.store import Campaigns
from opera.workers.messages import check_info
from opera.workers.pool_protocol import Role
from opera.workers.protocol import ProtocolError

_KINDS = (Role.LIBRARY, Role.COMPILER)


class Remembered:
    """The words of both workers of a subject, kept in the workspace under the state of their environments.

    Args:
        campaigns: Campaigns of the workspace.
        workers: Workers of the subject.
    """

    def __init__(self, campaigns: Campaigns, workers: SubjectSession) -> None:
        self._campaigns = campaigns
        self._workers = workers
        states = [state_of(workers.specs[kind]) for kind in _KINDS]
        known = [each for each in states if each is not None]
        self._key = f"workers {hashlib.sha256(' '.join(known).encode()).hexdigest()}" if len(known) == len(_KINDS) else None

    def recall(self) -> bool:
        """Gives the session what its workers said last; False where that is unknown or no longer holds."""
        document = None if self._key is None else self._campaigns.artefact(self._key)
        if document is None:
            return False
        try:
            for kind in _KINDS:
                check_info(document[kind.value], self._workers.specs[kind].setup)
        except (KeyError, ProtocolError):
            return False
        self._workers.pool.infos.update({kind: document[kind.value] for kind in _KINDS})
        return True

    def keep(self) -> None:
        """Keeps what the workers have said."""
        if self._key is not None:
            self._campaigns.keep_artefacts([(self._key, {kind.value: self._workers.pool.infos[kind] for kind in _KINDS})])
