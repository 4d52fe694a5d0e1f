"""A suite has one test for each cause, and names that a maintainer knows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from reporting import RESHAPE, failure, relu, result

from opera.extensions.suites.cases import Candidate, Request, candidates
from opera.extensions.suites.export import _further
from opera.extensions.suites.names import name_of_test
from opera.extensions.suites.tests import SuiteTest
from opera.instance import Occurrence, digest
from opera.oracles.verdict import Stage, Verdict
from opera.store import Corpus, Workspace
from opera.store.database import open_workspace
from opera.store.reductions import Merge, Reductions
from tests.integration.suites.test_suites_alone import made
from tests.unit.test_finding_ids import crash, reduce, size, write

BIG = crash("a1", relu(2), "the operands of R.add(x, y) differ")
SMALL = crash("b2", relu(1), "the operands of R.mul(x) differ")
ALIKE = crash("c3", relu(3), "the operands of R.mul(x) differ")
OTHER = result("d4", RESHAPE, "tvm", Verdict.CRASH, Stage.LOAD, converter="Reshape", detail=failure("no such layout", "ValueError"))


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "ws", write=True) as space:
        corpus = Corpus(space)
        corpus.add([(relu(each), Occurrence("node-tests", f"test_relu_{each}")) for each in (1, 2, 3)])
        corpus.add([(RESHAPE, Occurrence("opidiff", "reshape/zero copied")), (RESHAPE, Occurrence("node-tests", "test_reshape"))])
        write(space, BIG, SMALL, ALIKE, OTHER)
        yield space


def exported(space: Workspace, *findings: str) -> dict[str, Candidate]:
    return {each.api.rpartition(".")[2]: each for each in candidates(space, Request(findings)).tests}


def test_the_simplest_of_the_tests_with_one_cause_is_exported(workspace: Workspace) -> None:
    assert BIG.fingerprint != SMALL.fingerprint
    found = exported(workspace)
    assert list(found) == ["Relu", "Reshape"]
    first, *others = [each.result.test for each in found["Relu"].cases]
    assert (first, set(others)) == (SMALL.test, {BIG.test, ALIKE.test})
    assert found["Relu"].more == "2 more calls fail for the same cause: Relu"
    assert found["Reshape"].more == ""


def test_a_reduced_call_stands_for_its_cause(workspace: Workspace) -> None:
    reduce(workspace, BIG, str(BIG.fingerprint), size(2))
    first, *others = exported(workspace)["Relu"].cases
    assert (first.note != "", [each.result.test for each in others]) == (True, [BIG.test, SMALL.test, ALIKE.test])


def test_causes_that_a_person_keeps_apart_stay_apart(workspace: Workspace) -> None:
    Reductions(workspace).replace_merges([Merge(str(BIG.fingerprint), str(SMALL.fingerprint), "not the same", apart=True)])
    assert len(candidates(workspace, Request()).tests) == 3


def test_two_ids_of_one_finding_are_one_test(workspace: Workspace) -> None:
    assert len(candidates(workspace, Request((SMALL.test, ALIKE.test))).tests) == 1


def test_a_test_keeps_the_id_that_a_suite_gave_it(workspace: Workspace) -> None:
    found = exported(workspace)["Reshape"]
    assert found.ids == ("reshape/zero copied",)
    assert name_of_test(found.api, digest(RESHAPE), found.ids) == f"test_reshape_zero_copied_{digest(RESHAPE)[:8]}"
    assert name_of_test(found.api, digest(RESHAPE), ("\N{WHITE SMILING FACE}",)) == f"test_reshape_{digest(RESHAPE)[:8]}"


def test_a_cause_has_further_cases_where_the_first_shows_something_else(workspace: Workspace) -> None:
    found = exported(workspace)["Relu"]
    test = made("x", "model = 1")
    test = SuiteTest(**{**vars(test), "identity": found.identity, "case": found.cases[0]})
    further, given_up = _further([found], [test], {test.name: "it passes"})
    assert [each.cases for each in further] == [found.cases[1:]]
    assert given_up == []
    last = SuiteTest(**{**vars(test), "case": found.cases[-1]})
    assert _further([found], [last], {test.name: "it passes"}) == ([], ["it passes"])
    assert _further([found], [last], {}) == ([], [])
