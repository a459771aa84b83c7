"""The cache of rehydrated skeletons: whole or absent, and repaired when it was touched."""

import lzma
import multiprocessing
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

from sample_models import SKELETONS, store
from sample_models.skeleton import load_skeleton, recipe_of

NAME = "mobilenetv2"


@pytest.fixture(scope="module")
def packed():
    return (SKELETONS / f"{NAME}.onnx.xz").read_bytes()


@pytest.fixture(scope="module")
def made(packed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    store.stored(NAME, packed, folder)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """A copy of a filled cache, times of change included."""
    shutil.copytree(made, tmp_path / "cache", copy_function=shutil.copy2)
    return tmp_path / "cache"


def test_the_weights_are_those_of_the_recipes(packed, folder):
    model = onnx.load(store.stored(NAME, packed, folder))
    recipes = {t.name: recipe for t in load_skeleton(packed).graph.initializer if (recipe := recipe_of(t))}
    assert len(recipes) > 50
    for tensor in model.graph.initializer:
        if tensor.name in recipes:
            np.testing.assert_array_equal(onnx.numpy_helper.to_array(tensor), recipes[tensor.name].array())


def made_again(*_bytes):
    pytest.fail("made again")


def test_a_whole_model_is_not_made_again(packed, folder):
    path = store.stored(NAME, packed, folder, progress=made_again)
    assert path.name == f"{NAME}.onnx"


@pytest.mark.parametrize("victim", [".onnx", ".onnx.data"])
@pytest.mark.parametrize("harm", ["cut", "flip", "remove"])
def test_a_damaged_file_is_made_again(packed, folder, victim, harm):
    path = store.stored(NAME, packed, folder)
    harmed = path.with_name(NAME + victim)
    whole = harmed.read_bytes()
    if harm == "remove":
        harmed.unlink()
    else:
        harmed.write_bytes(whole[:1000] if harm == "cut" else whole[:1000] + b"\xff" + whole[1001:])
    assert store.stored(NAME, packed, folder) == path
    assert harmed.read_bytes() == whole
    assert sorted(file.name for file in folder.iterdir()) == [path.parent.name]


def test_a_changed_skeleton_is_another_folder_and_the_old_one_goes(packed, folder):
    old = store.stored(NAME, packed, folder)
    model = load_skeleton(packed)
    model.producer_name = "another"
    new = store.stored(NAME, lzma.compress(model.SerializeToString()), folder)
    assert new.exists()
    assert not old.exists()
    assert len(list(folder.iterdir())) == 1


def test_a_longer_name_with_the_same_beginning_is_left_alone(packed, folder):
    for other in (f"{NAME}-dynamo-0123456789ab", f"{NAME}-notes"):
        (folder / other).mkdir()
    next(folder.glob(f"{NAME}-*/manifest.json")).unlink()
    store.stored(NAME, packed, folder)
    assert (folder / f"{NAME}-dynamo-0123456789ab").is_dir()
    assert (folder / f"{NAME}-notes").is_dir()


def test_progress_counts_the_bytes(packed, tmp_path):
    counts = []
    store.stored(NAME, packed, tmp_path, progress=lambda done, total: counts.append((done, total)))
    assert [done for done, _ in counts] == sorted(done for done, _ in counts)
    assert len({total for _, total in counts}) == 1
    assert counts[-1][0] == counts[-1][1] > 10_000_000


def test_a_failure_leaves_nothing_behind(packed, tmp_path):
    def stop(*_bytes):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.stored(NAME, packed, tmp_path, progress=stop)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.real
def test_several_processes_at_once_agree(packed, tmp_path):
    context = multiprocessing.get_context("spawn")
    gate = context.Barrier(2)
    queue = context.Queue()
    workers = [
        context.Process(target=_store_after, args=(gate, packed, str(tmp_path), queue)) for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    paths = {queue.get() for _ in workers}
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    (path,) = paths
    assert store.is_whole(tmp_path / Path(path).parent.name)
    assert len(list(tmp_path.iterdir())) == 1


def _store_after(gate, packed, folder, queue):
    gate.wait()
    queue.put(str(store.stored(NAME, packed, Path(folder))))
