"""Environments of their own: what is written into opera.toml, what can be made, and what is left when it cannot."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from fake.corpora import Run, runner
from fake.harness import marked
from packaging.requirements import Requirement

from opera.compilers.registry import plugins
from opera.config import load_config
from opera.errors import EnvironmentBroken, UserError
from opera.extensions.environments import build
from opera.extensions.environments.build import EnvironmentFolder, create, remove
from opera.extensions.environments.recipes import Recipe, known_names, recipe, version_recipe
from opera.extensions.environments.releases import compilers, in_order
from opera.extensions.environments.settings_file import Entry, write_python

PATIENCE = 60.0


@pytest.fixture
def opera(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Commands in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return runner(capfd)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """pip asks no index, and finds nothing that it is not given."""
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)


def wheel(folder: Path, name: str = "tiny") -> Path:
    """A package with one module, as a wheel."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": "ANSWER = 42\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as archive:
        rows: list[str] = []
        for file, text in files.items():
            archive.writestr(file, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            rows.append(f"{file},sha256={digest},{len(text)}")
        archive.writestr(f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,", ""]))
    return path


def tiny(folder: Path, *requirements: str, gigabytes: float = 0.0) -> Recipe:
    return Recipe("tiny", (("compiler", "tiny"),), requirements or (str(wheel(folder)),), None, gigabytes, "")


def make(wanted: Recipe, where: EnvironmentFolder, again: bool = False) -> list[str]:
    told: list[str] = []
    create(wanted, where, None, again=again, tell=told.append)
    return told


# opera.toml.

COMMENTED = """\
# what this project uses
[library.pytorch]  # the nightly
python = 'envs/torch/bin/python'  # built on Monday

# compilers, the oldest first
[compiler.tvm]
python = "tvm"   # from PATH
# the end
"""


def test_a_new_entry_goes_to_the_end_and_nothing_else_changes(tmp_path: Path) -> None:
    file = tmp_path / "opera.toml"
    file.write_text(COMMENTED)
    write_python(file, {Entry("compiler", "executorch"): ".opera-envs/executorch/bin/python"})
    assert file.read_text() == COMMENTED + '\n[compiler.executorch]\npython = ".opera-envs/executorch/bin/python"\n'
    assert load_config(tmp_path).python("compiler", "executorch") == str(tmp_path / ".opera-envs/executorch/bin/python")


def test_a_changed_entry_keeps_its_place_and_its_comment(tmp_path: Path) -> None:
    file = tmp_path / "opera.toml"
    file.write_text(COMMENTED)
    write_python(file, {Entry("library", "pytorch"): "other"})
    assert file.read_text() == COMMENTED.replace("'envs/torch/bin/python'", '"other"')


def test_an_entry_that_is_taken_out_leaves_all_comments(tmp_path: Path) -> None:
    file = tmp_path / "opera.toml"
    file.write_text(COMMENTED)
    write_python(file, {Entry("compiler", "tvm"): None})
    assert file.read_text() == COMMENTED.replace('[compiler.tvm]\npython = "tvm"   # from PATH\n', "")
    write_python(file, {Entry("compiler", "tvm"): None})


def test_a_file_that_is_not_there_is_made_and_one_with_other_permissions_keeps_them(tmp_path: Path) -> None:
    file = tmp_path / "opera.toml"
    write_python(file, {Entry("library", "my lib"): 'a"b'})
    assert load_config(tmp_path).python("library", "my lib") == 'a"b'
    file.chmod(0o600)
    write_python(file, {Entry("library", "my lib"): "c"})
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["opera.toml"]


def test_the_interpreter_is_written_next_to_other_keys_and_taken_out_alone(tmp_path: Path) -> None:
    file = tmp_path / "opera.toml"
    file.write_text('[compiler.tvm]\npath = ["build"]  # mine\n')
    write_python(file, {Entry("compiler", "tvm"): "/env/bin/python"})
    assert file.read_text() == '[compiler.tvm]\npython = "/env/bin/python"\npath = ["build"]  # mine\n'
    write_python(file, {Entry("compiler", "tvm"): None})
    assert file.read_text() == '[compiler.tvm]\npath = ["build"]  # mine\n'


@pytest.mark.parametrize(
    "text",
    [
        '[compiler]\ntvm = {python = "x"}\n',
        'compiler.tvm.python = "x"\n',
        '[compiler.tvm]\npython = """x"""\n',
        '[library.x]\npython = """\n[compiler.tvm]\npython = "y"\n"""\n',
    ],
)
def test_a_file_that_cannot_be_changed_faithfully_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "opera.toml"
    file.write_text(text)
    with pytest.raises(UserError, match=r"by hand: \[compiler\.tvm\] python = \"new\""):
        write_python(file, {Entry("compiler", "tvm"): "new"})
    assert file.read_text() == text


def test_a_malformed_file_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "opera.toml"
    file.write_text("[compiler")
    with pytest.raises(UserError, match="not valid TOML"):
        write_python(file, {Entry("compiler", "tvm"): "new"})
    assert file.read_text() == "[compiler"


# Versions of a compiler.

VERSIONS = """\
[compiler.tvm]
python = "usual/python"

[compiler.tvm.versions]  # by hand
"0.25.0" = "old/python"
nightly = {path = ["build"], env = {TVM_LOG = "1"}}
"""


def test_a_version_is_written_beside_others_and_taken_out_alone(tmp_path: Path) -> None:
    file = tmp_path / "opera.toml"
    file.write_text(VERSIONS)
    write_python(file, {Entry("compiler", "tvm", "0.26.0"): "new/python"})
    assert load_config(tmp_path).versions["tvm", "0.26.0"]["python"].value == str(tmp_path / "new/python")
    assert file.read_text() == VERSIONS.replace("# by hand\n", '# by hand\n"0.26.0" = "new/python"\n')
    write_python(file, {Entry("compiler", "tvm", "0.26.0"): None})
    assert file.read_text() == VERSIONS
    write_python(file, {Entry("compiler", "iree", "3.9.0"): "other/python"})
    assert file.read_text() == VERSIONS + '\n[compiler.iree.versions]\n"3.9.0" = "other/python"\n'
    write_python(file, {Entry("compiler", "iree", "3.9.0"): None, Entry("compiler", "tvm"): None})
    assert load_config(tmp_path).versions.keys() == {("tvm", "0.25.0"), ("tvm", "nightly")}


def test_a_version_replaces_the_usual_settings_and_no_variable_overrides_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "opera.toml").write_text(VERSIONS)
    (tmp_path / "build").mkdir()
    config = load_config(tmp_path)
    assert config.python("compiler", "tvm") == str(tmp_path / "usual/python")
    nightly = config.at("tvm", "nightly")
    assert (nightly.python("compiler", "tvm"), nightly.search_first("tvm")) == (str(tmp_path / "usual/python"), (str(tmp_path / "build"),))
    monkeypatch.setenv("OPERA_COMPILER_TVM_PYTHON", "another")
    assert config.python("compiler", "tvm") == "another"
    assert config.at("tvm", "0.25.0").python("compiler", "tvm") == str(tmp_path / "old/python")
    assert config.at("tvm", "0.25.0").environment("tvm") == {}
    with pytest.raises(UserError, match=r"no version '0\.1' here \(there is 0\.25\.0, nightly\); `opera env create tvm==0\.1`"):
        config.at("tvm", "0.1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[compiler.tvm]\nversions = 3", "is not a table"),
        ('[compiler.tvm.versions]\n"../x" = "python"', "is no name of a version"),
        ("[compiler.tvm.versions]\na = 3", "has no key"),
        ("[compiler.tvm.versions]\na = {version = 3}", "unknown key 'version'"),
        ('[compiler.tvm.versions]\na = {versions = {b = "python"}}', "has versions of its own"),
        ('[library.onnx]\nversions = {a = "python"}', "unknown key 'versions'"),
    ],
)
def test_a_file_whose_versions_are_malformed_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "opera.toml").write_text(text)
    with pytest.raises(UserError, match=re.escape(said)):
        load_config(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tvm==../x", "is no name of a version"),
        ("tvm==", "is no name of a version"),
        ("tvn==0.25.0", "did you mean 'tvm'?"),
        ("tvm==nightly", "no version of a release; for a build, name what pip has to install with --from"),
        ("litert==1.0", "does not know the releases of litert"),
    ],
)
def test_a_version_that_cannot_be_made_is_the_users_error(opera: Run, name: str, said: str) -> None:
    done = opera("env", "create", name)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tvm==0.25.0", "--python", "python3"), "leave --python out"),
        (("tvm==0.25.0", "--keep", "3"), "--keep is for builds"),
        (("tvm", "--from", "x.whl"), "write e.g. tvm==nightly"),
        (("tvm==20261130", "--from", "x.whl"), "is the name of a release; a build needs another name, e.g. tvm==build-20261130"),
        (("tvm==a", "--from=--index-url=x"), "is no wheel, folder or requirement"),
        (("tvm==a", "iree==b", "--from", "x.whl"), "are for one environment"),
    ],
)
def test_options_that_do_not_go_together_are_refused(opera: Run, arguments: tuple[str, ...], said: str) -> None:
    done = opera("env", "create", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_each_release_has_exact_requirements_and_the_facts_are_in_order() -> None:
    assert compilers().keys() - plugins().keys() == {"torch.onnx", "keras.onnx"}, "exporters, of which a package has versions"
    for name, compiler in compilers().items():
        versions = [each.version for each in compiler.releases]
        assert versions == in_order(versions, {})[::-1]
        assert compiler.releases[-1].version == compiler.first
        assert compiler.needs.keys() <= set(versions)
        for version in versions:
            wanted = version_recipe(f"{name}=={version}")
            assert {each.operator for text in wanted.requirements for each in Requirement(text).specifier} == {"=="}
            assert wanted.download > 0
            if name in plugins():
                package = Requirement(plugins()[name].load().packages[0])
                assert package.name == compiler.package
                assert package.specifier.contains(version), f"{name} {version} is older than its adapter takes"


@pytest.mark.slow
def test_a_version_shares_packages_and_has_only_what_differs(tmp_path: Path, offline: None) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "common.py").write_text("ANSWER = 1\n")
    where = EnvironmentFolder("tvm==mine", tmp_path / "envs" / "tvm==mine")
    wanted = version_recipe("tvm==mine", str(wheel(tmp_path)))
    create(wanted, where, None, again=False, tell=print, shared=[str(shared)])
    script = "import common, tiny; print(common.ANSWER, tiny.ANSWER)"
    assert subprocess.run([where.python, "-c", script], capture_output=True, check=True).stdout == b"1 42\n"


@pytest.mark.slow
def test_a_version_whose_canary_fails_is_not_written_and_the_others_are_made(opera: Run, offline: None, tmp_path: Path) -> None:
    done = opera("env", "create", "onnxruntime==1.25.0", "onnxruntime==1.26.0", "--json")
    assert done.code == 3
    assert [(each["name"], each["used"]) for each in done.json["environments"]] == [
        ("onnxruntime==1.25.0", False),
        ("onnxruntime==1.26.0", False),
    ]
    assert "pip could not install onnxruntime==1.25.0" in done.err
    (tmp_path / "onnxruntime").mkdir()  # as in the compiler's own repository
    wheel(tmp_path, "onnxruntime")
    (tmp_path / "opera.toml").write_text('[compiler.onnxruntime.versions]\nold = "old/python"\n')
    done = opera("env", "create", "onnxruntime==mine", "--from", "onnxruntime-1.0-py3-none-any.whl", "--keep", "1")
    assert done.code == 3
    assert "opera.toml is as it was; `opera env remove onnxruntime==mine` removes it" in done.err
    assert (tmp_path / "opera.toml").read_text() == '[compiler.onnxruntime.versions]\nold = "old/python"\n'
    assert opera("env", "remove", "onnxruntime==mine").code == 0


# Recipes.


def test_every_adapter_declares_the_lowest_version_of_what_it_needs() -> None:
    for name, plugin in plugins().items():
        for text in (part for each in plugin.load().packages for part in each.split(" | ")):
            assert {each.operator for each in Requirement(text).specifier} & {">=", "=="}, f"{name}: {text}"


def test_every_environment_has_requirements_and_pins_that_agree_with_them() -> None:
    for name in known_names():
        wanted = recipe(name)
        assert wanted.serves or "ray" in name, name
        assert {"numpy", "ml_dtypes"} <= {Requirement(each).name.replace("-", "_") for each in wanted.requirements}, name
        assert wanted.pins is not None, name
        pins = {Requirement(line).name.lower().replace("-", "_"): line for line in wanted.pins.read_text().splitlines() if line[:1] != "#"}
        for each in map(Requirement, wanted.requirements):
            version = pins[each.name.lower().replace("-", "_")].partition("==")[2]
            assert each.specifier.contains(version, prereleases=True), f"{name}: {each} but {version}"


def test_an_unknown_environment_is_the_users_error_with_the_names_that_there_are(opera: Run) -> None:
    done = opera("env", "create", "executorc")
    assert done.code == 2
    assert "did you mean 'executorch'?" in done.err
    assert "tensorrt" in done.err


# Making.


@pytest.mark.slow
def test_an_environment_is_made_from_nothing_and_works(tmp_path: Path, offline: None) -> None:
    where = EnvironmentFolder("tiny", tmp_path / "envs" / "tiny")
    make(tiny(tmp_path), where)
    assert where.is_complete
    assert subprocess.run([where.python, "-c", "import tiny; print(tiny.ANSWER)"], capture_output=True, check=True).stdout == b"42\n"
    with pytest.raises(UserError, match="--again"):
        make(tiny(tmp_path), where)
    (where.folder / "extra").touch()
    make(tiny(tmp_path), where, again=True)
    assert where.is_complete
    assert not (where.folder / "extra").exists()
    remove(where)
    assert not where.folder.parent.exists()


@pytest.mark.slow
def test_nothing_is_left_of_an_environment_that_pip_cannot_install(tmp_path: Path, offline: None) -> None:
    where = EnvironmentFolder("tiny", tmp_path / "envs" / "tiny")
    with pytest.raises(EnvironmentBroken, match=r"could not install tiny: ERROR: .*no-such-distribution"):
        make(tiny(tmp_path, "no-such-distribution"), where)
    assert not where.folder.exists()


@pytest.mark.slow
def test_an_index_that_cannot_be_reached_is_named_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{closed.getsockname()[1]}/simple")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_RETRIES", "1")
    for variable in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    where = EnvironmentFolder("tiny", tmp_path / "tiny")
    with pytest.raises(EnvironmentBroken, match=r"the package index cannot be reached .*; check the network"):
        make(tiny(tmp_path, "no-such-distribution"), where)
    assert not where.folder.exists()


def test_too_small_a_disk_is_named_before_anything_is_written(tmp_path: Path) -> None:
    where = EnvironmentFolder("tiny", tmp_path / "tiny")
    with pytest.raises(EnvironmentBroken, match=r"takes about 1e\+09 GB.*free some space, or choose another disk with --path"):
        make(tiny(tmp_path, gigabytes=1e9), where)
    assert not where.folder.exists()


def test_an_installation_that_does_not_know_an_environments_extras_makes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = [line for line in metadata.requires("opera-dl") or () if "extra == 'ray'" not in line.replace('"', "'")]
    monkeypatch.setattr(metadata, "requires", lambda name: known)
    where = EnvironmentFolder("ray", tmp_path / "envs" / "ray")
    with pytest.raises(EnvironmentBroken, match=r"older than its sources, and lacks the requirements of 'ray'; install it again"):
        make(recipe("ray"), where)
    assert not where.folder.exists()


def test_a_disk_that_fills_up_while_pip_works_is_named_as_such() -> None:
    printed = "Collecting torch\nERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"
    assert "no space left on the device; free some" in str(build._failure("pip could not install tiny", printed))


def test_an_interpreter_that_is_none_is_named(tmp_path: Path) -> None:
    for python, says in ((str(tmp_path / "none"), "No such file"), ("/bin/false", "cannot be made")):
        with pytest.raises(EnvironmentBroken, match=says):
            create(tiny(tmp_path), EnvironmentFolder("tiny", tmp_path / "tiny"), python, again=False, tell=print)
        assert not (tmp_path / "tiny").exists()


def test_a_folder_that_is_not_ours_is_never_removed(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    for again in (False, True):
        with pytest.raises(UserError, match="was not made by `opera env create`"):
            make(tiny(tmp_path), EnvironmentFolder("tiny", folder), again=again)
    with pytest.raises(UserError, match="nothing was removed"):
        remove(EnvironmentFolder("tiny", folder))
    assert (folder / "thesis.txt").read_text() == "years of work"


# Interruptions.


@pytest.fixture
def silent_index() -> Iterator[str]:
    """An index that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/simple"


def pips_of(process: subprocess.Popen[bytes]) -> list[int]:
    """The children of *process* that are `pip install`."""
    children = [int(word) for word in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    return [pid for pid in children if b"\0pip\0install\0" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def start_making(folder: Path, index: str) -> subprocess.Popen[bytes]:
    """A process that makes an environment and hangs in pip."""
    code = (
        "import sys; from pathlib import Path; from opera.extensions.environments.build import EnvironmentFolder, create;"
        "from opera.extensions.environments.recipes import Recipe;"
        "recipe = Recipe('tiny', (), ('no-such-distribution',), None, 0.0, '');"
        "from opera.interruption import interruptible\n"
        "with interruptible(): create(recipe, EnvironmentFolder('tiny', Path(sys.argv[1])), None, again=False, tell=print)"
    )
    environment = {**os.environ, "PIP_INDEX_URL": index, "PIP_CONFIG_FILE": os.devnull, "PIP_TIMEOUT": "600"}
    for variable in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
        environment.pop(variable, None)
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + PATIENCE
    while not pips_of(process):
        assert time.monotonic() < until, "pip was not started"
        time.sleep(0.05)
    return process


@pytest.mark.slow
def test_an_environment_whose_making_was_killed_is_never_used_and_can_be_made_anew(
    tmp_path: Path, silent_index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = EnvironmentFolder("tiny", tmp_path / "tiny")
    process = start_making(where.folder, silent_index)
    process.kill()
    process.wait()
    assert not where.is_complete
    write_python(tmp_path / "opera.toml", {Entry("compiler", "tiny"): str(where.python)})
    with pytest.raises(EnvironmentBroken, match="was not finished; `opera env create tiny` creates it again"):
        load_config(tmp_path).python("compiler", "tiny")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    until = time.monotonic() + PATIENCE
    while marked(process.pid):
        assert time.monotonic() < until, "pip ends with the command that has started it"
        time.sleep(0.05)
    make(tiny(tmp_path), where)
    assert where.is_complete
    assert load_config(tmp_path).python("compiler", "tiny") == str(where.python)


@pytest.mark.slow
@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow), pytest.param(signal.SIGHUP, marks=pytest.mark.slow)]
)
def test_an_interruption_leaves_nothing(tmp_path: Path, silent_index: str, how: signal.Signals) -> None:
    process = start_making(tmp_path / "tiny", silent_index)
    for _ in range(3):
        process.send_signal(how)
        time.sleep(0.01)
    process.wait(PATIENCE)
    assert not (tmp_path / "tiny").exists()
    assert marked(process.pid) == []


# The command.


def test_list_shows_what_can_be_made_and_what_is_not_finished(opera: Run, tmp_path: Path) -> None:
    folder = tmp_path / ".opera-envs" / "executorch"
    folder.mkdir(parents=True)
    (folder / "opera-environment.json").write_text(json.dumps({"name": "executorch"}))
    rows = {row["name"]: row for row in opera("env", "list", "--json").json["environments"]}
    assert rows["executorch"]["state"] == "not finished"
    assert rows["executorch"]["serves"] == ["compiler.executorch"]
    assert rows["tensorrt"]["state"] == "not made"
    assert rows["keras"]["serves"] == ["library.keras"]


@pytest.mark.slow
def test_remove_takes_the_folder_and_its_entry_away(opera: Run, tmp_path: Path, offline: None) -> None:
    where = EnvironmentFolder("tiny", tmp_path / ".opera-envs" / "tiny")
    make(tiny(tmp_path), where)
    write_python(tmp_path / "opera.toml", {Entry("compiler", "tiny"): ".opera-envs/tiny/bin/python", Entry("compiler", "tvm"): "elsewhere"})
    rows = {row["name"]: row["state"] for row in opera("env", "list", "--json").json["environments"]}
    assert rows["tiny"] == "in use"
    done = opera("env", "remove", "tiny", "--json")
    assert done.json == {"schema": "env-remove/1", "name": "tiny", "path": str(where.folder), "served": ["compiler.tiny"]}
    assert not where.folder.exists()
    assert (tmp_path / "opera.toml").read_text() == '\n[compiler.tvm]\npython = "elsewhere"\n'
    assert opera("env", "remove", "tiny").code == 2


@pytest.mark.parametrize("thing", ["tvm", ".tvm.lock"])
def test_a_link_in_the_place_of_an_environment_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, thing: str) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter").write_text("dear")
    (mine / "opera-environment.json").write_text('{"name": "tvm"}')
    where = build.EnvironmentFolder("tvm", tmp_path / ".opera-envs" / "tvm")
    where.folder.parent.mkdir()
    if thing == "tvm":
        where.folder.symlink_to(mine)
    else:
        where.folder.mkdir()
        (where.folder / "opera-environment.json").write_text('{"name": "tvm"}')
        (where.folder.parent / thing).symlink_to(mine / "letter")
    before = sorted(path.name for path in mine.iterdir())
    with pytest.raises(UserError, match=r"is a link|cannot be locked"):
        build.remove(where)
    assert (sorted(path.name for path in mine.iterdir()), (mine / "letter").read_text()) == (before, "dear")
