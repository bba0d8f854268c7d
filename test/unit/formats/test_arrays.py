"""Arrays in npz files."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from xneuron.formats.arrays import ArrayFileError, load_arrays, save_arrays

ARRAYS = {
    "x": np.arange(6, dtype=np.float32).reshape(2, 3),
    "0": np.int64(-5),
    "half": np.array([1.5, np.nan, -0.0], ml_dtypes.bfloat16),
    "eighth": np.array(0.5, ml_dtypes.float8_e4m3fn),
    "nibble": np.array([[-8, 7]], ml_dtypes.int4),
    "flags": np.array([True, False]),
    "z": np.array([1 + 2j], np.complex64),
    "transposed": np.arange(6, dtype=np.int16).reshape(2, 3).T,
    "empty": np.zeros((0, 4), ml_dtypes.bfloat16),
}


def test_every_type_comes_back(tmp_path: Path) -> None:
    save_arrays(tmp_path / "a.npz", ARRAYS)
    found = load_arrays(tmp_path / "a.npz")
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape), name
        assert found[name].tobytes() == array.tobytes(), name


def test_numpy_reads_it_and_the_key_says_what_the_bits_are(tmp_path: Path) -> None:
    save_arrays(tmp_path / "a.npz", {"x": ARRAYS["half"], "y": ARRAYS["x"]})
    with np.load(tmp_path / "a.npz") as plain:
        assert plain.files == ["x@bf16", "y"]
        assert plain["x@bf16"].dtype == np.uint16
        assert plain["x@bf16"][0] == 0x3FC0  # 1.5


def test_numpy_writes_it(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **{"x": np.float32(2), "w@f8e5m2": np.array([0x3C], np.uint8)})
    found = load_arrays(tmp_path / "a.npz")
    assert found["w"].dtype == ml_dtypes.float8_e5m2
    assert found["w"][0] == 1.0


def test_equal_arrays_give_equal_files(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        save_arrays(tmp_path / name, ARRAYS)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_single_array(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.arange(3))
    assert load_arrays(tmp_path / "one.npy")["0"].tolist() == [0, 1, 2]


def test_errors(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(ArrayFileError, match=r"expected an \.npz file of arrays"):
        load_arrays(tmp_path / "text.npz")
    np.savez(tmp_path / "object.npz", x=np.array([{}], object))
    with pytest.raises(ArrayFileError, match=r"expected an \.npz file of arrays"):
        load_arrays(tmp_path / "object.npz")
    np.savez(tmp_path / "type.npz", **{"x@f9": np.zeros(1, np.uint8)})
    with pytest.raises(ArrayFileError, match="expected an element type of HLO after '@', found 'x@f9'"):
        load_arrays(tmp_path / "type.npz")
    np.savez(tmp_path / "width.npz", **{"x@bf16": np.zeros(1, np.uint8)})
    with pytest.raises(ArrayFileError, match="expected 2 bytes an element for 'x@bf16', found uint8"):
        load_arrays(tmp_path / "width.npz")
    with pytest.raises(FileNotFoundError):
        load_arrays(tmp_path / "none.npz")
