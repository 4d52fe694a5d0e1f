"""Files are written by `opera.atomic`, and foreign structure is parsed by the bounded readers. Other places are listed, with their reason.

The rule reads the syntax trees of the product. A new place that opens a file for writing, or parses a document, fails here until it goes
through `opera.atomic`, `opera.bounded_json` or `opera.untrusted`, or has a reason of this list.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import pytest
from trees import dotted, modules, nodes

Rule = Callable[[str, ast.Call], bool]

OF_OPERA = "a file or a text of OPERA itself, not of a user"
OF_SYSTEM = "a file or a pipe of the kernel"
OWN_FOLDER = "a file in a new folder of this command or worker"
OWN_PLACE = "a place that OPERA alone writes to, with a check of links of its own"
DRIVER = "a message of the driver, which has checked what is foreign in it"
CHECKED = "a row of the database: the check of rows has read it with its type"
SIGNED = "a value of the cache that this user has signed, or that has its hash"
MODEL = "a model, in a worker process that may crash"
LIBRARY = "in the process of the library under test, where OPERA may not be installed"
LIMITED = "a parser with a limit of size and depth of its own, whose errors become ours"

WRITERS: dict[str, str] = {
    "atomic": OF_OPERA,
    "bundle.store": OWN_PLACE,
    "cli.options._quiet_pipe": OF_SYSTEM,
    "compilers.openvino.OpenVinoAdapter._read": OWN_FOLDER,
    "compilers.watching.of_onnxruntime": OWN_FOLDER,
    "extensions.findings.issue._attempt": OWN_FOLDER,
    "extensions.findings.baseline.baseline": OWN_FOLDER,
    "extensions.findings.repairs._found": OWN_FOLDER,
    "extensions.findings.mending.trying.tried": OWN_FOLDER,
    "extensions.findings.mending.driver._apart": OWN_FOLDER,
    "extensions.findings.upstream._index": "an index in memory",
    "extensions.environments.build.remove": OWN_PLACE,
    "extensions.environments.build._make_room": OWN_PLACE,
    "extensions.environments.build._begin": OWN_PLACE,
    "extensions.environments.build._run": OWN_PLACE,
    "extensions.environments.build._see": OWN_PLACE,
    "extensions.generators.constraints.Constraints.write": OWN_FOLDER,
    "extensions.generators.hosts.settings._killers": OWN_FOLDER,
    "extensions.keras_backends.answer.main": OF_SYSTEM,
    "extensions.keras_openvino.adapter.KerasOpenVinoAdapter.load": OWN_FOLDER,
    "extensions.models.architectures.written": OWN_FOLDER,
    "extensions.opidiff.export._identities": OWN_FOLDER,
    "extensions.programs.batch._continued": OWN_PLACE,
    "extensions.programs.pytest_plugin._Keeper._keep": "a file of the tests' author, in the process of the tests",
    "extensions.programs.reading.write_readings": OWN_FOLDER,
    "extensions.versions.steps.ScriptStep._rewritten": OWN_FOLDER,
    "extensions.stablehlo.templates.plan.evaluate_apart": OWN_FOLDER,
    "extensions.suites.iree_import.imported": OWN_FOLDER,
    "extensions.suites.project.Project.likeness": OWN_FOLDER,
    "extensions.suites.trial._Runner.run": OWN_FOLDER,
    "extensions.suites.trial._Runner._process": OWN_FOLDER,
    "extensions.suites.trial_plugin._note": OWN_FOLDER,
    "extract.copies.WarmProcess.prepare": OWN_FOLDER,
    "extract.host.Host.__init__": OWN_FOLDER,
    "extract.host.answer": OWN_FOLDER,
    "extract.source.DeclaredSource.command": OWN_FOLDER,
    "extract.source.FileSource.command": OWN_FOLDER,
    "instrumentation.copies._become": LIBRARY,
    "instrumentation.stream.Stream.__init__": LIBRARY,
    "instrumentation.stream.Stream.silence": OF_SYSTEM,
    "report.reproducer.run_script": OWN_FOLDER,
    "run.status.Journal.flush": OWN_PLACE,
    "store.database._opened": OWN_PLACE,
    "store.database.new_database": OWN_PLACE,
    "store.signing._make": OWN_PLACE,
    "workers.process.Worker._start": OWN_PLACE,
}
PARSERS: dict[str, str] = {
    "arrays.from_bytes": CHECKED,
    "bounded_json.parsed_json": LIMITED,
    "bundle.parse": SIGNED,
    "compilers.onnx_format.parse": MODEL,
    "compilers.openvino.OpenVinoAdapter._read": MODEL,
    "corpus.stored_call.stored_call": CHECKED,
    "extensions.findings.recorded.title_of": LIMITED,
    "extensions.findings.mending.driver._imports": "the script that runs next, in its process",
    "extensions.findings.mending.driver._apart": "the answer of a child process of the script",
    "extensions.findings.wide._run": "the script that runs next, in its process",
    "extensions.findings.upstream._hits": OF_OPERA,
    "extensions.findings.upstream._store": OF_OPERA,
    "difftest.compiler_worker.CompilerWorker._instance": DRIVER,
    "difftest.model_worker.Materialiser._instance": DRIVER,
    "difftest.model_worker.Materialiser._call": DRIVER,
    "environments.inventory.inventory": "the answer of an interpreter that the configuration names",
    "environments.inventory.search_path": "the answer of an interpreter that the configuration names",
    "environments.pinned._data": OF_OPERA,
    "extensions.generators.constraints._load": LIMITED,
    "extensions.keras_backends.answer._answer": DRIVER,
    "extensions.opidiff.native._schemas": OF_OPERA,
    "extensions.opidiff.native._means": OF_OPERA,
    "extensions.opidiff.signatures._table": OF_OPERA,
    "extensions.opidiff.tree._Builder.__init__": LIMITED,
    "extensions.programs.languages._tables": OF_OPERA,
    "extensions.programs.rejection._rows": OF_OPERA,
    "extensions.models.templates.opened.arrays_in": "an .npz file without pickled objects, in a worker process",
    "extensions.models.templates.exporter._of_keras": MODEL,
    "extensions.models.templates.exporter._of_program": "a .pt2 file of which `check_program` has seen each text, in a worker process",
    "extensions.models.templates.program_file.check_program": "an archive of bounded size; its JSON passes `opera.bounded_json`",
    "extensions.models.templates.opened._read": MODEL,
    "extensions.models.templates.surgeon._filled": OF_OPERA,
    "extensions.programs.templates.from_onnx": MODEL,
    "extensions.programs.templates.seeds.reading_of": OWN_FOLDER,
    "extensions.ray.node.RayWorkerNode.__init__": DRIVER,
    "extensions.ray.node.RayWorkerNode.set_warmup": DRIVER,
    "extensions.ray.node.RayWorkerNode.do": DRIVER,
    "extensions.research.artifact._signatures": OF_OPERA,
    "extensions.research.visits._tasks": CHECKED,
    "extensions.stablehlo.conformance.files.arrays_by_name": LIMITED,
    "extensions.stablehlo.self_checking.instance_candidate": CHECKED,
    "extensions.stablehlo.templates.module.parse": MODEL,
    "extensions.stablehlo.templates.module.programs_in": MODEL,
    "extensions.stablehlo.templates.plan.place_constant": MODEL,
    "extensions.suites.driver.route_function": OF_OPERA,
    "extensions.suites.driver._assigned": OF_OPERA,
    "extensions.suites.driver.without_head": OF_OPERA,
    "extensions.suites.layout.indented": OF_OPERA,
    "extensions.suites.layout._bare_generators": OF_OPERA,
    "extensions.suites.project._configures": LIMITED,
    "extensions.suites.refresh.outcomes_of": LIMITED,
    "extensions.suites.refresh._refresh_file": LIMITED,
    "extensions.suites.shorter._listed": OF_OPERA,
    "extensions.suites.shorter._named": OF_OPERA,
    "extensions.suites.statements._expression": OF_OPERA,
    "extensions.suites.statements.parsed": OF_OPERA,
    "extensions.suites.statements.packed_array": OF_OPERA,
    "extensions.suites.tests.build": OF_OPERA,
    "extensions.suites.tests._recomputed": OF_OPERA,
    "extensions.suites.tests.text_of": OF_OPERA,
    "extensions.suites.tests._with_packed_model": OF_OPERA,
    "extensions.suites.tests._function": OF_OPERA,
    "extensions.suites.trial._rows": OWN_FOLDER,
    "extract.description._read": "the description of a library, part of OPERA or of an installed plug-in",
    "extract.host.check_modules": "the answer of an interpreter that the configuration names",
    "instance.codec._check_strings": LIMITED,
    "extensions.generators.settings.conditions.conditions": OF_OPERA,
    "instance.libraries._facts": OF_OPERA,
    "instrumentation.copies.serve": LIBRARY,
    "instrumentation.filters.Filters.load": LIBRARY,
    "instrumentation.hosts.docstrings._is_python": LIBRARY,
    "instrumentation.hosts.suite._runner": LIBRARY,
    "models.archive.unpack_folder": MODEL,
    "models.forms.document_in": CHECKED,
    "models.operators.operators_of": OF_OPERA,
    "models.torch_tables.fill": MODEL,
    "plugins._uninstalled": OF_OPERA,
    "prioritize.familiarity.equipped_counts": OF_OPERA,
    "prioritize.schemas._facts": OF_OPERA,
    "report.reproducer.original": CHECKED,
    "report.reproducer._is_plain": OF_OPERA,
    "report.reproducer.objection": LIMITED,
    "report.reproducer.foreign_names": OF_OPERA,
    "report.views.InstanceView.__init__": CHECKED,
    "store.campaigns.Campaigns.artefact": SIGNED,
    "store.combine._campaign": CHECKED,
    "store.combine._parts": CHECKED,
    "templates.keras.artefacts._onnx": MODEL,
    "templates.onnx.agreement.computed": MODEL,
    "templates.onnx.model.OnnxModel.source": MODEL,
    "templates.onnx.model.OnnxModel._declared": MODEL,
    "templates.onnx.model.OnnxModel._graph_model": MODEL,
    "templates.onnx.model._graph_proto": MODEL,
    "templates.pytorch.programs.run_saved": MODEL,
    "triage.arbitration._facts": OF_OPERA,
    "triage.baseline.Baseline.__init__": LIMITED,
    "trust.Trust._imported": LIMITED,
    "untrusted.lines_of": LIMITED,
    "untrusted.inflated": LIMITED,
    "untrusted.parsed_toml": LIMITED,
    "untrusted.typed": LIMITED,
    "workers.messages": LIMITED,
    "workers.messages.parsed": LIMITED,
}
"""By place: module without `opera.`, class and function."""

_WRITES = {
    "os.fdopen", "os.link", "os.mkfifo", "os.mknod", "os.rename", "os.replace", "os.symlink", "shutil.copy", "shutil.copy2",
    "shutil.copyfile", "shutil.copytree", "shutil.move", "sqlite3.connect", "tempfile.NamedTemporaryFile", "tempfile.TemporaryFile",
    "tempfile.mkstemp",
}  # fmt: skip
_WRITING_METHODS = {"hardlink_to", "rename", "symlink_to", "touch", "write_bytes", "write_text"}
_PARSES = {
    "ast.literal_eval", "ast.parse", "bz2.decompress", "configparser.ConfigParser", "csv.DictReader", "csv.reader", "gzip.decompress",
    "gzip.open", "json.load", "json.loads", "lzma.decompress", "marshal.loads", "msgspec.convert", "msgspec.json.Decoder",
    "msgspec.json.decode", "numpy.load", "onnx.load", "onnx.load_model", "onnx.load_model_from_string", "pickle.load", "pickle.loads",
    "tarfile.open", "tomlkit.load", "tomlkit.parse", "tomllib.load", "tomllib.loads", "torch.export.load", "torch.jit.load", "torch.load",
    "xml.etree.ElementTree.fromstring", "xml.etree.ElementTree.iterparse", "xml.etree.ElementTree.parse", "yaml.CSafeLoader",
    "yaml.compose", "yaml.load", "yaml.parse", "yaml.safe_load", "zlib.decompress", "zlib.decompressobj",
}  # fmt: skip
_PARSING_METHODS = {"FromString", "ParseFromString"}
_FOR_WRITING = {"O_APPEND", "O_CREAT", "O_RDWR", "O_TRUNC", "O_WRONLY"}


def names_of(of_module: Sequence[ast.AST]) -> dict[str, str]:
    """The full name of each imported one."""
    found: dict[str, str] = {}
    for node in of_module:
        for each in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            if isinstance(node, ast.ImportFrom):
                found[each.asname or each.name] = f"{node.module}.{each.name}"
            elif each.asname:
                found[each.asname] = each.name
            else:
                found[each.name.partition(".")[0]] = each.name.partition(".")[0]
    return found


def place_of(call: ast.Call, of_module: Sequence[ast.AST], module: str) -> str:
    """The module, class and function in which *call* stands."""
    blocks = [node for node in of_module if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    begins = {node: min(each.lineno for each in (node, *node.decorator_list)) for node in blocks}
    around = [node for node in blocks if begins[node] <= call.lineno <= (node.end_lineno or node.lineno)]
    return ".".join([module, *(node.name for node in sorted(around, key=lambda node: node.lineno))])


def writes(name: str, call: ast.Call) -> bool:
    """Whether *call* of *name* makes or changes a file."""
    last = name.rpartition(".")[2]
    if name == "os.open":
        return any(isinstance(node, ast.Attribute) and node.attr in _FOR_WRITING for node in ast.walk(call))
    if last == "open":  # open(path, mode), Path.open(mode)
        given = [each.value for each in call.keywords if each.arg == "mode"] or call.args[1 if name in ("open", "io.open") else 0 :][:1]
        return any(not isinstance(mode, ast.Constant) or bool(set(str(mode.value)) & set("wax+")) for mode in given)
    if name == "gzip.GzipFile":
        return False  # on a file that is open
    if name == "zipfile.ZipFile":
        return len(call.args) > 1 and ast.unparse(call.args[0]) != "buffer"
    return name in _WRITES or (last in _WRITING_METHODS and "." in name and not name.startswith("opera."))


def parses(name: str, call: ast.Call) -> bool:
    """Whether *call* of *name* makes a structure of a text or of bytes."""
    if name == "zipfile.ZipFile":
        return len(call.args) < 2
    if name == "gzip.GzipFile":
        return not any(each.arg == "mode" and ast.unparse(each.value) == "'wb'" for each in call.keywords)
    return name in _PARSES or name.rpartition(".")[2] in _PARSING_METHODS or name.endswith("ir.Module.parse")


def places(of_module: Sequence[ast.AST], module: str, rule: Rule) -> set[str]:
    """The places of *module* with a call that *rule* is about."""
    imported = names_of(of_module)
    found: set[str] = set()
    for node in of_module:
        if isinstance(node, ast.Call):
            head, dot, rest = dotted(node.func).partition(".")
            if rule(imported.get(head, head) + dot + rest, node):
                found.add(place_of(node, of_module, module.removeprefix("opera.")))
    return found


@pytest.mark.parametrize(("rule", "allowed"), [(writes, WRITERS), (parses, PARSERS)], ids=["writes", "parses"])
def test_each_place_goes_through_the_one_module_or_has_a_reason(rule: Rule, allowed: dict[str, str]) -> None:
    product = modules()
    found: set[str] = set().union(*(places(nodes(path), name, rule) for name, path in product.items()))
    unlisted = {each for each in found if each not in allowed and each.partition(".")[0] not in allowed}
    assert sorted(unlisted) == [], "write with `opera.atomic`; parse with `opera.bounded_json` or `opera.untrusted`; or give a reason here"
    there = {each for each in allowed if any(f"opera.{each}.".startswith(f"{name}.") for name in product)}  # not of an absent extension
    assert {each for each in there if not any(f"{place}.".startswith(f"{each}.") for place in found)} == set(), "these places are gone"


HEAD = """
import ast, json, msgspec, os, shutil, tempfile, zipfile
import tomllib as toml
import numpy as np
from json import loads
from shutil import copyfile
from xml.etree import ElementTree
class C:
    def f(self):
        """
WRITING = """
open(path, 'w')
open(path, mode='ab')
path.open('r+b')
path.open(mode)
path.write_text(text)
os.open(path, os.O_RDWR)
shutil.copy(a, b)
copyfile(a, b)
tempfile.mkstemp()
zipfile.ZipFile(path, 'w')
os.replace(a, b)
path.touch()
"""
PARSING = """
json.loads(text)
loads(text)
toml.loads(text)
np.load(file)
ElementTree.fromstring(text)
proto.ParseFromString(data)
zipfile.ZipFile(file)
ast.parse(text)
msgspec.json.decode(data)
"""
NEITHER = """
open(path)
open(path, 'rb')
path.open('rb')
os.open(path, os.O_RDONLY)
text.replace('a', 'b')
open_file(path)
parsed_json(data)
json.dumps(tree)
"""


def parsed(line: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(HEAD + line)))


@pytest.mark.parametrize("line", WRITING.split("\n")[1:-1])
def test_a_place_that_writes_is_noticed(line: str) -> None:
    assert places(parsed(line), "opera.cli.new", writes) == {"cli.new.C.f"}


@pytest.mark.parametrize("line", PARSING.split("\n")[1:-1])
def test_a_place_that_parses_is_noticed(line: str) -> None:
    assert places(parsed(line), "opera.cli.new", parses) == {"cli.new.C.f"}


@pytest.mark.parametrize("line", NEITHER.split("\n")[1:-1])
def test_other_calls_are_neither(line: str) -> None:
    assert places(parsed(line), "opera.cli.new", writes) | places(parsed(line), "opera.cli.new", parses) == set()
