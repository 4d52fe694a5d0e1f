"""Compilers that depend on other installed and loaded packages."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from opera.compilers.adapter import Route, Stage, Subject
from opera_fake.adapter import FakeAdapter

_LOADED = "OPERA_FAKE_LOADED"


class _Jealous(FakeAdapter):
    """Dies where a process has loaded the other one already, as two runtimes with the same symbols do."""

    routes = (Route("fake", "text", "text"),)

    def start(self) -> Mapping[str, str]:
        if os.environ.setdefault(_LOADED, self.name) != self.name:
            os.abort()
        return super().start()


class LeftAdapter(_Jealous):
    name = "fake-left"


class RightAdapter(_Jealous):
    name = "fake-right"


class OldAdapter(FakeAdapter):
    """Its compiler is installed in a version that is too old."""

    name = "fake-old"
    packages = ("opera-fake>=2.0",)


class UninstalledAdapter(FakeAdapter):
    """Its compiler is not installed, and the adapter says so."""

    name = "fake-uninstalled"
    packages = ("opera-fake>=1.0", "opera-fake-engine>=3.1")


class ClashingAdapter(FakeAdapter):
    """Its compiler is installed together with a requirement that it does not work with."""

    name = "fake-clashing"
    packages = ("opera-fake-demanding",)

    def start(self) -> Mapping[str, str]:
        raise ImportError("undefined symbol: fake_symbol_of_another_version")


class PairedAdapter(FakeAdapter):
    """Takes models of two libraries."""

    name = "fake-paired"
    routes = (
        Route("fake", "text", "text"),
        Route("fake", "live", None),
        Route("second", "text", "text", library="fake-second"),
        Route("second", "live", None, library="fake-second"),
    )


class EstrangedAdapter(PairedAdapter):
    """Fails on models of a library in a process that has had models of the other one."""

    name = "fake-estranged"
    _had = ""

    def load(self, subject: Subject, stage: Stage) -> Any:
        self._had = self._had or subject.route.library
        if subject.route.library != self._had:
            raise RuntimeError(f"{self._had} was here")
        return super().load(subject, stage)
