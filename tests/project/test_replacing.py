"""Files that are replaced as a whole: their rights, and what writers that were killed left beside them."""

from __future__ import annotations

import os
import sys
import time

import pytest

from pt_reuse._files import replacing, sweep_temporary


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


def test_temporary_files_of_long_ago_go_when_the_next_file_is_written(tmp_path):
    for name in (".pt_reuse-dead", ".pt_reuse-young", ".mine", "pt_reuse-mine"):
        (tmp_path / name).write_bytes(b"half")
        if name != ".pt_reuse-young":
            os.utime(tmp_path / name, (time.time() - 7200,) * 2)
    (tmp_path / ".pt_reuse-folder").mkdir()
    with replacing(tmp_path / "a") as file:
        file.write(b"new")
    kept = {".pt_reuse-young", ".pt_reuse-folder", ".mine", "pt_reuse-mine", "a"}
    assert {path.name for path in tmp_path.iterdir()} == kept
    sweep_temporary(tmp_path, older=0)
    assert {path.name for path in tmp_path.iterdir()} == kept - {".pt_reuse-young"}
