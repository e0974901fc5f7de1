"""WrittenRuns: the runs of a field, which can be written to files."""

from __future__ import annotations

from pathlib import Path

from pt_reuse._errors import door
from pt_reuse.runs.listed_runs import ListedRuns
from pt_reuse.runs.table_writing import write_table
from pt_reuse.runs.writing import write_runs


class WrittenRuns(ListedRuns):
    """Runs with a list of documents for each topic, which can be written to files and read back."""

    @door
    def write(self, folder: str | Path, *, compress: bool = True, overwrite: bool = False) -> list[Path]:
        """Write each run as a TREC run file, ``input.<name>.gz`` or ``input.<name>``.

        Args:
            folder: where to; made when it does not exist.
            compress: gzip the files.
            overwrite: replace files that exist already; default is an error before anything is written.

        Returns:
            list of Path: the files, in the order of the runs.

        Raises:
            InputError: a name that cannot be a file or a column, or a file that exists.
        """
        return write_runs(self.field, self.names, self.__getitem__, folder, compress=compress, overwrite=overwrite)

    @door
    def write_table(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write all runs as one Parquet or Arrow file, which :func:`read_runs` reads back as they are.

        Its columns are ``qid docno score rank name``: scores in full (float64), ranks from 0 as PyTerrier counts them,
        in the order in which the runs stand here. Rows are topic by topic, then run by run; a row group holds whole
        topics. What is on record of the runs (:attr:`run_table`, the order, how they were pooled) stands in the
        metadata of the file, under the key ``pt_reuse``.

        Args:
            path: the file. ``.parquet`` is Parquet, ``.arrow`` and ``.feather`` are Arrow's file format; both packed
                with zstd. Folders are made where they are missing.
            overwrite: replace a file that is there; default is an error.

        Returns:
            Path: the file. It is there whole or not at all.

        Raises:
            InputError: another ending, a file that exists, a run without documents, a name that is no UTF-8, or
                pyarrow is missing (``pip install 'pt-reuse[parquet]'``).

        Example:
            >>> import tempfile, pathlib, pandas as pd, pt_reuse as ptr
            >>> runs = ptr.simulate_field(seed=7).runs
            >>> path = runs.write_table(pathlib.Path(tempfile.mkdtemp()) / "runs.parquet")
            >>> pd.read_parquet(path).columns.tolist()
            ['qid', 'docno', 'score', 'rank', 'name']
            >>> ptr.read_runs(path).teams == runs.teams
            True
        """
        return write_table(self.field, self.run_table, self.order, self.how_pooled, path, overwrite=overwrite)
