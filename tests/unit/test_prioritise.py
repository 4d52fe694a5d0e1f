"""Promises of prioritisation: every instance gets one place, the same each time, and what is new comes first."""

import math
from collections import Counter
from typing import Any

import pytest
from fake.rankings import SEEDS, SMALL, candidates, instance, order, statements
from hypothesis import given
from hypothesis import strategies as st

from opera.errors import UserError
from opera.instance import Argument, Constraint, DType, Enum, Graph, Instance, Kind, Tensor, digest
from opera.plugins import broken
from opera.prioritize import Adaptive, Candidate, Context, History, Observation, equipped_counts, get_strategy, record, strategy_names
from opera.prioritize.feature_coverage import Ranker
from opera.prioritize.ranking import explain
from opera.prioritize.schemas import schema_of
from opera.prioritize.subspaces import subspace

STRATEGIES = [name for name in strategy_names() if name not in broken("opera.strategies")]
FEATURE_STRATEGIES = [name for name in ("opera", "opera-adaptive", "opera-paper", "parameter-only") if name in STRATEGIES]


tensors = st.builds(
    Tensor,
    st.lists(st.integers(0, 9), max_size=7).map(tuple),
    st.sampled_from(["float32", "int64", "bool", "string"]),
    constraint=st.none() | st.builds(Constraint, st.none() | st.floats(allow_nan=False), st.none(), st.booleans()),
) | st.lists(st.integers(-9, 9), max_size=4).map(
    lambda data: Tensor((len(data),), "int64", b"".join(number.to_bytes(8, "little", signed=True) for number in data))
)
leaves = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=4) | st.complex_numbers()
    | st.builds(DType, st.just("float32")) | st.builds(Enum, st.just("m.E"), st.sampled_from("AB")) | st.just(slice(None, 3, -1))
    | st.builds(Graph, st.just("onnx"), st.binary(max_size=2)) | st.just(range(3)) | st.just(...) | tensors
)  # fmt: skip
values = leaves | st.lists(leaves, max_size=5) | st.lists(st.integers(-3, 3)).map(tuple) | st.dictionaries(st.text(max_size=3), leaves)
named = st.lists(st.tuples(st.sampled_from(["x", "y", "dim", "axis:0"]), values), max_size=5)
instances = st.builds(
    lambda api, init, call, context, defaults, expected: Instance(
        "pytorch", api, Kind.MODULE, tuple(Argument(*item) for item in init), tuple(Argument(*item) for item in call),
        tuple(context), tuple(dict(defaults).items()), expected=expected,
    ),
    st.sampled_from(["torch.a", "torch.b", "keras.a"]), named, named, named, named, st.none() | st.lists(tensors, max_size=2).map(tuple),
)  # fmt: skip
corpora = st.lists(instances, max_size=12)


@given(corpus=corpora, copies=st.integers(1, 3), seed=st.integers(0, 9))
def test_every_candidate_gets_exactly_one_place_and_scores_never_rise(corpus: list[Instance], copies: int, seed: int) -> None:
    several = candidates(corpus) * copies
    for strategy in STRATEGIES:
        ranking = list(get_strategy(strategy).rank(several, Context({"a": 3}, seed, coverage=statements(several))))
        assert Counter(place.id for place in ranking) == Counter(candidate.id for candidate in several), strategy
        scores = [place.score for place in ranking]
        assert scores == sorted(scores, reverse=True), strategy


@given(corpus=st.lists(instances, max_size=12, unique_by=digest), data=st.data())
def test_the_order_of_the_input_does_not_matter(corpus: list[Instance], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(candidates(corpus)))
    for strategy in STRATEGIES:
        rank = get_strategy(strategy).rank
        context = Context({}, 1, coverage=statements(shuffled))
        assert list(rank(shuffled, context)) == list(rank(candidates(corpus), context)), strategy


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_empty_corpus_gives_an_empty_ranking(strategy: str) -> None:
    assert list(get_strategy(strategy).rank([], Context(coverage={}))) == []


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_five_hundred_identical_instances_all_get_a_place(strategy: str) -> None:
    assert len(order(strategy, [instance("torch.relu", x=Tensor((2,), "float32"))] * 500)) == 500


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_another_seed_gives_another_order(strategy: str) -> None:
    assert order(strategy, SMALL, seed=0) != order(strategy, SMALL, seed=1)


@pytest.mark.parametrize("strategy", FEATURE_STRATEGIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_new_value_of_a_parameter_ranks_before_a_repeated_one(strategy: str, seed: int) -> None:
    x = Tensor((2, 3), "float32")
    sums = [instance("torch.loss", x=x, mode="sum", scale=number) for number in (5, 7, 8, 9)]
    mean = instance("torch.loss", x=x, mode="mean", scale=5)
    assert order(strategy, [*sums, mean], seed).index(mean) <= 1


@pytest.mark.parametrize("strategy", FEATURE_STRATEGIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_new_combination_of_known_values_ranks_before_a_copy(strategy: str, seed: int) -> None:
    grid = [instance("torch.f", keep=keep, mode=mode) for keep in (True, False) for mode in ("a", "b")]
    ranking = order(strategy, grid + grid, seed)
    assert all(item in ranking[:4] for item in grid)


@pytest.mark.parametrize("seed", SEEDS)
def test_defaults_are_not_news(seed: int) -> None:
    defaults = {"mode": "mean", "keep": False}
    plain = instance("torch.loss", defaults)
    spelled = instance("torch.loss", defaults, mode="mean", keep=False)
    unusual = instance("torch.loss", defaults, mode="none", keep=True)
    assert order("opera", [plain, spelled, unusual], seed)[0] == unusual


@pytest.mark.parametrize("seed", SEEDS)
def test_sizes_alone_are_not_news(seed: int) -> None:
    sizes = [instance("torch.relu", x=Tensor((size, size + 1), "float32")) for size in range(2, 9)]
    scalar = instance("torch.relu", x=Tensor((), "float32"))
    assert order("opera", [*sizes, scalar], seed).index(scalar) <= 1


@pytest.mark.parametrize("seed", SEEDS)
def test_how_inputs_relate_is_news(seed: int) -> None:
    def pair(left: tuple[int, ...], right: tuple[int, ...]) -> Instance:
        return instance("torch.add", input=Tensor(left, "float32"), other=Tensor(right, "float32"))

    alike = [pair((size, 7), (size, 7)) for size in range(2, 7)]
    apart = pair((4, 7), (7, 4))
    assert order("opera", [*alike, apart], seed).index(apart) <= 1


@pytest.mark.parametrize("seed", SEEDS)
def test_families_take_turns(seed: int) -> None:
    def unary(api: str, dtype: str) -> Instance:
        return instance(f"torch.{api}", input=Tensor((2,), dtype))

    alike = [unary(api, dtype) for api in ("sin", "cos", "tan", "exp") for dtype in ("float32", "float64")]
    other = [instance("torch.where", condition=Tensor((2,), dtype)) for dtype in ("bool", "uint8")]
    first = order("opera", [*alike, *other], seed)[:2]
    assert len({item.api == "torch.where" for item in first}) == 2


@pytest.mark.parametrize("strategy", [name for name in ("opera", "round-robin") if name in STRATEGIES])
@pytest.mark.parametrize("seed", SEEDS)
def test_an_operator_with_many_tests_does_not_crowd_out_the_others(strategy: str, seed: int) -> None:
    many = [instance("torch.many", x=Tensor((2,), "float32"), n=number) for number in range(50)]
    few = [instance(f"torch.few{api}", y=Tensor((2,), "float32")) for api in range(5)]
    ranking = order(strategy, many + few, seed)
    assert max(ranking.index(item) for item in few) < 15


def test_rankings_stream() -> None:
    ranking = get_strategy("opera").rank(candidates(SMALL), Context())
    assert next(ranking).id in {digest(item) for item in SMALL}


def test_equipped_counts_are_known_for_tvm_and_empty_where_not_known() -> None:
    assert equipped_counts("tvm", "onnx")["ConvTranspose"] > 1
    assert equipped_counts("tvm", "pytorch")["conv2d"] >= 1
    assert equipped_counts("tvm", "no-such-frontend") == {}


def failed_once(*failing: Candidate) -> History:
    """One earlier campaign in which *failing* failed, each in its own way, and which ran nothing else."""
    return History((record((each.id, (each.instance.library, each.instance.api), [each.id]) for each in failing),))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_failed_elsewhere_comes_before_what_is_otherwise_equal(seed: int) -> None:
    equal = [instance(f"torch.op{number}", x=Tensor((2,), "float32")) for number in range(6)]
    corpus = candidates(equal)
    first = next(get_strategy("opera").rank(corpus, Context(seed=seed, history=failed_once(corpus[4]))))
    assert first.id == corpus[4].id


@pytest.mark.parametrize("strategy", ["opera", "opera-adaptive"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_family_that_failed_in_earlier_campaigns_comes_sooner_with_instances_that_were_not_there(strategy: str, seed: int) -> None:
    corpus = candidates([instance(f"torch.{api}", **{f"{api}{number}": 1}) for api in "abcd" for number in range(3)])
    gone = candidates([instance("torch.c", gone=1)])
    ranking = get_strategy(strategy).rank(corpus, Context(seed=seed, history=failed_once(*gone)))
    assert {each.id: each.instance for each in corpus}[next(iter(ranking)).id].api == "torch.c"


def test_campaigns_of_other_libraries_say_nothing() -> None:
    corpus = candidates(SMALL)
    history = failed_once(*candidates([Instance("onnx", "ai.onnx.Abs", Kind.NODE)]))
    assert history.about([("pytorch", "torch.op1")]) == History()
    assert list(get_strategy("opera").rank(corpus, Context(history=history))) == list(get_strategy("opera").rank(corpus, Context()))


def test_a_fault_of_two_operators_counts_once_for_their_family() -> None:
    one, other = ("pytorch", "torch.a"), ("pytorch", "torch.b")
    first = record([("1", one, ["fault"]), ("2", other, ["fault"]), ("3", other, ["second"]), ("4", other, [])])
    assert History((first,)).mean([one, other]) == (2, 4)
    assert History((first, record([("1", one, [])]))).mean([one, other]) == (1, 2.5)
    assert History((first,)).failures() == {"1": 1, "2": 1, "3": 1}


def test_a_known_failure_makes_its_family_wait_and_a_new_one_does_not() -> None:
    def place_of_second(observation: Observation) -> int:
        corpus = candidates([instance(f"torch.op{api}", **{f"p{api}": n}) for api in range(6) for n in (True, "x", None, [1])])
        operators = {each.id: each.instance.operator for each in corpus}
        strategy = get_strategy("opera-adaptive")
        assert isinstance(strategy, Adaptive)
        session = strategy.session(corpus, Context())
        first = session.next()
        assert first is not None
        session.observe(first.id, observation)
        waited = 0
        while (ranked := session.next()) is not None and operators[ranked.id] != operators[first.id]:
            session.observe(ranked.id, Observation.NOTHING)
            waited += 1
        return waited

    assert place_of_second(Observation.NEW) == 0
    assert 0 < place_of_second(Observation.NOTHING) < place_of_second(Observation.KNOWN)


@given(corpus=corpora | st.permutations(SMALL).map(lambda items: items[:30]), done=st.integers(0, 30), data=st.data())
def test_a_session_that_is_told_what_has_run_goes_on_where_another_was_stopped(
    corpus: list[Instance], done: int, data: st.DataObject
) -> None:
    """Whatever was observed, and even where tests in between got lost, all others come once."""
    known = list({each.id: each for each in candidates(corpus)}.values())
    strategy = get_strategy("opera-adaptive")
    assert isinstance(strategy, Adaptive)
    stopped, going_on, with_losses = (strategy.session(known, Context(seed=1)) for _ in range(3))
    lost: set[str] = set()
    for _ in range(done):
        ranked = stopped.next()
        if ranked is None:
            break
        observation = data.draw(st.sampled_from(Observation))
        sessions = [stopped, going_on]
        going_on.take(ranked.id)
        if data.draw(st.booleans()):
            with_losses.take(ranked.id)
            sessions.append(with_losses)
        else:
            lost.add(ranked.id)
        for session in sessions:
            session.observe(ranked.id, observation)
    rests: list[list[str]] = []
    for session in (stopped, going_on, with_losses):
        rests.append([])
        while (ranked := session.next()) is not None:
            rests[-1].append(ranked.id)
            session.observe(ranked.id, Observation.NOTHING)
    assert rests[0] == rests[1]
    assert Counter(rests[2]) == Counter({*rests[0], *lost})


@pytest.mark.parametrize("seed", SEEDS)
def test_a_corpus_that_grew_is_ranked_as_if_it_were_new(seed: int) -> None:
    corpus = candidates(SMALL)
    grown = Ranker(corpus[:-9])
    list(grown.rank(Context(seed=seed)))
    grown.add(corpus[-9:])
    assert list(grown.rank(Context(seed=seed))) == list(Ranker(corpus).rank(Context(seed=seed)))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_odd_corpora_are_ranked_whole(strategy: str) -> None:
    odd = [
        *(instance("torch.nothing") for _ in range(3)),
        *(instance("torch.mixed", x=value) for value in (1, True, 1.0, "1", None, [1], (1.0, None), {"a": 1}, float("nan"))),
        instance("torch.default", {"x": None}), instance("torch.default", {"x": None}, x=None),
    ]  # fmt: skip
    assert len(order(strategy, odd)) == len(odd)


@pytest.fixture(scope="module", params=[2_000, pytest.param(50_000, marks=pytest.mark.slow)])
def many(request: pytest.FixtureRequest) -> list[Candidate]:
    """The instances of one operator."""
    numbers: range = range(request.param)
    return [Candidate(f"{number:05}", instance("torch.f", n=number % 40, x=Tensor((number % 7,), "float32"))) for number in numbers]


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name not in ("fast", "additional")])
def test_an_operator_with_many_instances_is_ranked_whole(strategy: str, many: list[Candidate]) -> None:
    """FAST compares each with each, and `additional` starts again thousands of times: they are for smaller corpora."""
    context = Context(coverage={each.id: frozenset({int(each.id) % 9}) for each in many})
    assert len({each.id for each in get_strategy(strategy).rank(many, context)}) == len(many)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("equipped", [{}, {"op0": 0, "op1": 0}, {"op0": 0, "none-such": 5}])
def test_equipped_counts_may_be_empty_zero_or_of_other_operators(strategy: str, equipped: dict[str, int]) -> None:
    assert Counter(order(strategy, SMALL, equipped=equipped)) == Counter(SMALL)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_instances_of_two_versions_of_a_library_are_ranked_together(strategy: str) -> None:
    """In the newer one a parameter is new, another has another default, a third takes lists, and an operator is gone."""
    old = [instance("torch.f", {"dim": 0, "size": 1}, x=Tensor((2,), "float32"), size=size) for size in (1, 2, 3)]
    new = [
        instance("torch.f", {"dim": -1, "size": (1,), "layout": None}, x=Tensor((2,), "float32"), size=size, layout=layout)
        for size in ((1,), (2, 2))
        for layout in ("sparse", "strided")
    ]
    gone = [instance("torch.gone", x=1)]
    assert Counter(map(repr, order(strategy, [*old, *new, *gone]))) == Counter(map(repr, [*old, *new, *gone]))


def test_an_explanation_names_place_score_and_what_is_new() -> None:
    corpus = candidates(SMALL)
    ranking = list(get_strategy("opera").rank(corpus, Context(seed=2)))
    for place in (1, 5, len(ranking)):
        wanted = ranking[place - 1]
        found = explain("opera", corpus, Context(seed=2), wanted.id[:20])
        assert (found.place, found.score) == (place, wanted.score)
        why = found.reasons
        assert math.sqrt(why.aspects * why.size) * why.promise * why.gain / (1 + why.turns) == pytest.approx(wanted.score)
        assert bool(why.news or why.pairs) == (wanted.score > 0)
    first = explain("opera", corpus, Context(seed=2), ranking[0].id)
    assert ("", "operator") in first.reasons.news


def node(operator: str, *inputs: Tensor | None, **attributes: Any) -> Instance:
    """An instance of an ONNX operator, with its inputs by the names of its slots."""
    names = {"Abs": ("X",), "Neg": ("X",), "Cast": ("input",), "Clip": ("input", "min", "max"), "Swish": ("X",)}[operator]
    call = tuple(Argument(names[min(index, len(names) - 1)], value) for index, value in enumerate(inputs))
    init = tuple(Argument(name, value) for name, value in attributes.items())
    return Instance("onnx", f"ai.onnx.{operator}", Kind.NODE, init, call)


def family(*corpus: Instance) -> Any:
    """The family of the only operator of *corpus*."""
    [operator] = Ranker(candidates(corpus)).operators
    return operator.family


X = Tensor((2, 3), "float32")


def test_a_family_is_what_operators_declare_not_what_their_tests_show() -> None:
    assert family(node("Abs", X), node("Abs", X, X)) == family(node("Neg", X))
    assert family(node("Cast", X, to=7)) == family(node("Cast", X, to=7, saturate=0)) != family(node("Abs", X))
    assert family(instance("torch.abs", input=X)) == family(instance("torch.relu", input=X, inplace=False))


def test_core_operators_are_not_a_family_with_those_that_are_decomposed() -> None:
    assert family(instance("torch.sigmoid", input=X)) == family(instance("torch.abs", input=X)) != family(instance("torch.fliplr", input=X))


def test_operators_of_unknown_declaration_are_a_family_by_what_their_tests_show() -> None:
    assert family(instance("torch.mine", x=X)) == family(instance("torch.yours", x=X)) != family(instance("torch.third", y=X))


def recency(*corpus: Instance) -> list[float]:
    """The recency of the distinct rows of the only operator of *corpus*, falling."""
    ranker = Ranker(candidates(corpus))
    [operator] = ranker.operators
    operator.table(ranker.vocabulary, 64)
    return sorted(operator.recency.tolist(), reverse=True)


def test_recency_is_the_version_of_the_newest_part_that_a_test_uses() -> None:
    schema = schema_of("onnx", "ai.onnx.Cast")
    assert schema is not None
    old, dtype, attribute = node("Cast", X, to=7), node("Cast", Tensor((2,), "float8_e4m3fn"), to=1), node("Cast", X, to=7, round_mode="up")
    assert recency(attribute, old, dtype) == [1 + 24 / schema.newest, 1 + 19 / schema.newest, 1 + 1 / schema.newest]
    bounds = node("Clip", X, Tensor((), "float32")), node("Clip", X, None), node("Clip", X)
    assert recency(*bounds) == [1 + 11 / schema.newest, 1 + 1 / schema.newest, 1 + 1 / schema.newest]
    assert recency(instance("torch.abs", input=X)) == [1.0]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_operator_that_is_new_comes_before_one_that_is_old(seed: int) -> None:
    assert order("opera", [node("Abs", X), node("Swish", X, alpha=1.0)], seed)[0].api == "ai.onnx.Swish"


def test_versions_of_declared_parts_are_later_than_their_operators() -> None:
    for api in ("ai.onnx.Cast", "ai.onnx.Resize", "ai.onnx.Attention", "ai.onnx.ml.LabelEncoder"):
        schema = schema_of("onnx", api)
        assert schema is not None
        assert schema.size
        assert all(schema.since < version <= schema.newest for version in schema.later.values())
        assert {name for name in schema.later if not name.startswith(":")} <= schema.inputs | schema.attributes


@pytest.mark.parametrize(("strategy", "prefix"), [("opera-adaptive", ""), ("opera", "zz"), ("opera", "")])
def test_what_cannot_be_explained_is_refused(strategy: str, prefix: str) -> None:
    with pytest.raises(UserError):
        explain(strategy, candidates(SMALL), Context(), prefix)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ([1, 2], "[1,>1]"),
        ([], "[]"),
        ((1.5, math.nan), "[>0.0,nan]"),
        (-1, "-1"),
        (-7, "<-1"),
        (True, "True"),
        ("same", "'same'"),
        ({"a": 0}, "{'a':0}"),
    ],
)
def test_values_of_one_subspace_have_one_name(value: Any, name: str) -> None:
    assert subspace(value) == name
