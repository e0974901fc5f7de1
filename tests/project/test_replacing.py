"""Files that are replaced as a whole: their rights, and what writers that were killed left beside them."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from forking import half_a_file, kill_oneself, killed_in

from pt_reuse._files import Alone, alone, replacing, sweep_temporary, write_together


@pytest.mark.skipif(sys.platform == "win32", reason="rights are other ones")
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_file_has_the_rights_of_a_new_one(tmp_path, mask):
    before = os.umask(mask)
    try:
        with replacing(tmp_path / "a") as file:
            file.write(b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o666 & ~mask


def test_what_fails_leaves_what_was_there(tmp_path):
    (tmp_path / "a").write_bytes(b"old")

    def interrupted():
        with replacing(tmp_path / "a") as file:
            file.write(b"new")
            assert len(list(tmp_path.iterdir())) == 2
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"old"}


def half_a_folder(folder):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "replace", kill_oneself)
        write_together(folder, [("a", b"new"), ("b", b"new")])


@pytest.mark.skipif(sys.platform == "win32", reason="no kills")
@pytest.mark.parametrize("write", [half_a_file, half_a_folder])
def test_what_a_killed_writer_left_goes_with_the_next_and_nothing_else(tmp_path, write):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "again").mkdir()
    kept = {"a", "again", ".pt_reuse-mine", ".pt_reuse-0123456789abcdef", ".pt_reuse-01234567-0123456789abcdef"}
    for name in kept - {"a", "again"}:
        (tmp_path / name).write_bytes(b"of the user, of a version of before, or of another machine")
    killed_in(lambda: write(tmp_path))
    (left,) = {path.name for path in tmp_path.iterdir()} - kept
    # of another folder nothing goes
    with replacing(tmp_path / "again" / "b") as file:
        file.write(b"new")
    assert (tmp_path / left).exists()
    with replacing(tmp_path / "a") as file:
        file.write(b"new")
    assert {path.name for path in tmp_path.iterdir()} == kept
    # after an hour nobody is at work there
    os.utime(tmp_path / ".pt_reuse-01234567-0123456789abcdef", (time.time() - 7200,) * 2)
    os.utime(tmp_path / ".pt_reuse-mine", (time.time() - 7200,) * 2)
    sweep_temporary(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == kept - {".pt_reuse-01234567-0123456789abcdef"}


@pytest.mark.skipif(sys.platform == "win32", reason="no locks")
def test_a_file_that_is_being_written_stays(tmp_path):
    with replacing(tmp_path / "a") as file:
        (temporary,) = tmp_path.iterdir()
        os.utime(temporary, (time.time() - 7200,) * 2)
        with replacing(tmp_path / "b") as other:
            other.write(b"b")
        sweep_temporary(tmp_path)
        file.write(b"a")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"a", "b": b"b"}


@pytest.mark.skipif(sys.platform == "win32", reason="no locks")
def test_one_who_sweeps_before_the_lock_is_there_makes_it_begin_anew(tmp_path, monkeypatch):
    made, opened = [], Path.open

    def swept(path, *mode):
        file = opened(path, *mode)
        if mode == ("xb",):
            made.append(path.name)
            if len(made) == 1:
                path.unlink()
        return file

    monkeypatch.setattr(Path, "open", swept)
    with replacing(tmp_path / "a") as file:
        file.write(b"a")
    assert len(made) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.skipif(sys.platform == "win32", reason="no locks")
def test_two_wait_for_each_other_but_not_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("pt_reuse._files.PATIENCE", 0.05)
    with alone(tmp_path, reading=True) as whether, alone(tmp_path, reading=True) as other:
        assert whether is other is Alone.YES
        with pytest.raises(OSError, match="at work"):
            write_together(tmp_path, [("a", b"new")])
    assert list(tmp_path.iterdir()) == []
