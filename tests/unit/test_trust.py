"""Classes of the user's own: where they are found, what is trusted, what their source is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from opera import trust as module
from opera.trust import Trust, Unfit, grant, load


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "mine/models.py": "from mine.parts import Part\nimport os\nclass Net:\n    class Inner: ...\n",
        "mine/parts.py": "class Part: ...\n",
        "other.py": "class Other: ...\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path.resolve()


def trust(folder: Path, *trusted: str) -> Trust:
    return Trust(tuple(str(folder / each) for each in trusted), (str(folder),))


@pytest.mark.parametrize("path", ["file:mine/models.py::Net", "mine.models.Net", "mine.models.Net.Inner"])
def test_a_class_is_found_by_file_and_by_name(path: str, folder: Path) -> None:
    found = trust(folder, "mine").located(path)
    assert (found.file, found.module) == (folder / "mine" / "models.py", "mine.models")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("file:other.py::Other", "--trust"),
        ("file:absent.py::Other", "--root"),
        ("os.system", "standard library"),
        ("torch.hub.load", "library"),
        ("file:mine/../other.py::Other", "--trust"),
    ],
)
def test_what_is_not_trusted_is_refused_with_the_way_out(path: str, why: str, folder: Path) -> None:
    with pytest.raises(Unfit, match=why):
        trust(folder, "mine").located(path)
    assert not trust(folder, "mine").covers(path)


def test_a_link_out_of_a_trusted_folder_is_not_trusted(folder: Path) -> None:
    (folder / "mine" / "link.py").symlink_to(folder / "other.py")
    with pytest.raises(Unfit, match="not trusted"):
        trust(folder, "mine").located("file:mine/link.py::Other")


def test_the_hash_covers_local_imports_and_not_the_place(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    copy = tmp_path_factory.mktemp("copy").resolve()
    for each in ("mine/models.py", "mine/parts.py"):
        (copy / each).parent.mkdir(exist_ok=True)
        (copy / each).write_bytes((folder / each).read_bytes())
    path = ["file:mine/models.py::Net"]
    first = trust(folder, "mine").hash(path)
    assert trust(copy, "mine").hash(path) == first
    (copy / "mine/parts.py").write_text("class Part: x = 1\n")
    assert trust(copy, "mine").hash(path) != first


def test_files_that_are_no_python_have_a_hash(folder: Path) -> None:
    (folder / "mine" / "models.py").write_bytes(b"\x00(((")
    assert len(trust(folder, "mine").hash(["mine.models.Net"])) == 64


def test_a_worker_loads_classes_of_trusted_files_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(module, "_GRANTED", type(module._GRANTED)())
    grant(trust(folder, "mine"))
    try:
        assert load("file:mine/models.py::Net") is load("mine.models.Net")
        for path in ("mine.models.os", "mine.models.os.system", "file:mine/models.py::os.system"):
            with pytest.raises(Unfit, match="trusted"):
                load(path)
    finally:
        for name in ("mine", "mine.models", "mine.parts"):
            sys.modules.pop(name, None)
