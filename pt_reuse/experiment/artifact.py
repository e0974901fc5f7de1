"""Runs, pools, judgments and scores as artifacts of PyTerrier: a folder that can be packed, shared and loaded."""

from __future__ import annotations

import html
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import shown
from pt_reuse._files import read_file
from pt_reuse._saving import CONTENTS, DAMAGED, SavedFiles, digests_of, read_result
from pt_reuse.arrays.lists import offsets
from pt_reuse.collections.terms import check_shareable
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.ordering import check_order_or_none
from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.sharing import DIGEST, META, as_json
from pt_reuse.errors import InputError, located
from pt_reuse.pooling.pool import Contributions, Contributors, Pool, Rule
from pt_reuse.result import Record
from pt_reuse.scoring.scores import Scores

#: the folder of the run files, and of the documents of a sampled pool that are not to be judged
_RUNS, _UNSAMPLED = "runs", "unsampled"
#: in what PyTerrier reads of every artifact: who says that runs may be shared
_ALLOWED = "allowed"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Packed(Record):
    """Frames and facts that an artifact is made of."""

    frames: Mapping[str, pd.DataFrame]
    facts: Mapping[str, Any]


class ReuseArtifact(pt.Artifact, ABC):
    """Runs, judgments, a pool or scores in a folder; ``content`` returns them."""

    ARTIFACT_FORMAT: ClassVar[str] = "reuse"
    ARTIFACT_PACKAGE_HINT: ClassVar[str] = "pt-reuse"
    #: what it holds, and how the usage in its card calls it
    ARTIFACT_TYPE: ClassVar[str]
    _called: ClassVar[str]

    def __init__(self, path: str | Path):
        super().__init__(path)
        self.folder = Path(path)
        #: who says that what is being shared may be shared; empty where nobody needs to, None outside of sharing
        self._allowed: str | None = None

    @cached_property
    def content(self) -> Any:
        """Return what the artifact holds: a RunSet, a Pool, a Qrels or Scores.

        Raises:
            InputError: a file that is missing, or not as it was written.
        """
        return self._checked(self._read)

    def _checked(self, read: Callable[[Path], Any]) -> Any:
        """Return what is read of the folder, whose files are those that were written."""
        with located(str(self.folder)):
            try:
                _check_digests(self.folder, self._meta.get(DIGEST))
                return read(self.folder)
            except InputError:
                raise
            except DAMAGED as error:
                raise InputError(f"the artifact cannot be read ({error}). Get it, or make it, anew.") from error

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.folder)!r})"

    def to_hf(self, repo: str, *, allow: str | None = None, **options: Any) -> None:
        """Upload the artifact to the Hugging Face Hub, with a card that is filled in.

        Args:
            repo: where to.
            allow: who says that runs which NIST gives to people who sign its agreement may be shared, and why, such as
                ``"all are our own, J. Doe"``. It is written into what is shared.
            **options: as of pyterrier's artifacts.

        Raises:
            InputError: runs, or a pool with its runs, some of which have names of runs that NIST gives to people who
                sign its agreement. A name that anybody may give, such as ``bm25`` or ``run1``, is none of these.
        """
        with self._sharing(allow):
            super().to_hf(repo, **options)

    def to_zenodo(self, *, allow: str | None = None, **options: Any) -> None:
        """Upload the artifact to Zenodo, with a description that is filled in; `allow` as for :meth:`to_hf`."""
        with self._sharing(allow):
            super().to_zenodo(**options)

    def to_p2p(self, *arguments: Any, allow: str | None = None, **options: Any) -> None:
        """Send the artifact to a peer; `allow` as for :meth:`to_hf`."""
        with self._sharing(allow):
            super().to_p2p(*arguments, **options)

    def build_package(self, package_path: str | None = None, *, allow: str | None = None, **options: Any) -> str:
        """Make one file of the artifact, and return its path; `allow` as for :meth:`to_hf`."""
        with self._sharing(allow):
            return str(super().build_package(package_path, **options))

    @contextmanager
    def _sharing(self, allow: Any) -> Iterator[None]:
        """Raise where the runs may not be shared and nobody says otherwise."""
        if allow is not None and not (isinstance(allow, str) and allow.strip()):
            raise InputError(
                f"allow must be a text that says who allows it and why, got {shown(allow)}.", argument="allow"
            )
        before = self._allowed
        if before is None and allow is None:
            check_shareable(self._checked(self._names_of_runs), "allow='who, and why'")
        # uploading builds a package
        self._allowed = allow or before or ""
        try:
            yield
        finally:
            self._allowed = before

    def _package_files(self) -> Iterator[tuple[str, str | io.BytesIO]]:
        for name, file in super()._package_files():
            if name == META and self._allowed:
                yield name, io.BytesIO(as_json({**self._meta, _ALLOWED: self._allowed}))
            else:
                yield name, file

    @abstractmethod
    def _read(self, folder: Path) -> Any:
        """Return what the files of a folder hold."""

    def _names_of_runs(self, folder: Path) -> list[str]:
        """Return the names of the runs whose rankings the artifact holds."""
        return []

    @property
    def _meta(self) -> dict[str, Any]:
        """Return what PyTerrier reads of the artifact."""
        try:
            found = json.loads(read_file(self.folder / META))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"it is damaged ({error}). Get the artifact anew.", place=META) from error
        if not isinstance(found, dict):
            raise InputError("it is damaged. Get the artifact anew.", place=META)
        return found

    @property
    def _card(self) -> Mapping[str, Any]:
        found = self._meta.get("card", {})
        return found if isinstance(found, dict) else {}

    def _sections(self, load: str) -> Iterator[tuple[str, str, bool]]:
        """Yield heading, text, and whether the text is code."""
        card = self._card
        yield "Description", str(card.get("description") or card.get("what", "")), False
        yield "Content", str(card.get("what", "")), False
        yield "Usage", f"import pyterrier as pt  # pip install pt-reuse\n{self._called} = {load}.content", True
        settings = card.get("settings")
        conventions = "\n".join(f"{k}: {v}" for k, v in settings.items()) if isinstance(settings, dict) else ""
        if conventions:
            yield "Conventions", conventions, True
        yield "Source", str(card.get("source") or "Not stated."), False
        yield "Licence", str(card.get("license") or "Not stated."), False
        if self._allowed:
            yield "Who allows that these runs are shared", self._allowed, False

    def _hf_readme(
        self,
        *,
        repo: str,
        branch: str | None = "main",
        pretty_name: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> str:
        title = pretty_name or str(self._card.get("title") or repo.rsplit("/", maxsplit=1)[-1])
        where = repo if branch in (None, "main") else f"{repo}@{branch}"
        kind = f"pyterrier-artifact.{self.ARTIFACT_TYPE}"
        tags = ["pyterrier", "pyterrier-artifact", kind, f"{kind}.{self.ARTIFACT_FORMAT}"]
        head = [f"pretty_name: {json.dumps(title)}", "tags:", *(f"- {tag}" for tag in tags)]
        head += ["task_categories:", "- text-retrieval", "viewer: false"]
        head += [f"license: {json.dumps(self._card['license'])}"] if self._card.get("license") else []
        parts = [
            f"## {heading}\n\n" + (f"```{'python' if heading == 'Usage' else ''}\n{text}\n```" if code else text)
            for heading, text, code in self._sections(f"pt.Artifact.from_hf({where!r})")
        ]
        return "\n".join(["---", *head, "---", "", f"# {title}", "", "\n\n".join(parts), ""])

    def _zenodo_metadata(
        self, *, zenodo_id: str, pretty_name: str | None = None, metadata: dict[str, Any]
    ) -> dict[str, Any]:
        made = super()._zenodo_metadata(zenodo_id=zenodo_id, pretty_name=pretty_name, metadata=metadata)
        parts = [
            f"<h2>{heading}</h2>\n" + (f"<pre>{html.escape(text)}</pre>" if code else f"<p>{html.escape(text)}</p>")
            for heading, text, code in self._sections(f"pt.Artifact.from_zenodo({str(zenodo_id)!r})")
        ]
        title = pretty_name or self._card.get("title")
        named = {"title": title} if title else {}
        licence = {"license": self._card["license"]} if self._card.get("license") else {}
        return {**made, "description": "\n".join(parts), **named, **licence}


class RunsArtifact(ReuseArtifact):
    """A RunSet: one TREC file a run, and what is on record of them."""

    ARTIFACT_TYPE, _called = "run_set", "runs"

    @staticmethod
    def write(runs: RunSet, folder: Path) -> None:
        files = {path.name: read_file(path) for path in runs.write(folder / _RUNS)}
        facts: dict[str, Any] = {"files": list(files), "digests": digests_of(files), "order": runs.order}
        facts |= {"pool_order": runs.how_pooled.order, "pool_depth": runs.how_pooled.depth}
        Packed(frames={"run_table": runs.run_table}, facts=facts, settings=runs.settings).save(folder)

    def _read(self, folder: Path) -> RunSet:
        packed = _packed(folder)
        names, table = list(packed.facts["files"]), _run_table(packed)
        saved = SavedFiles(folder / _RUNS, packed.facts["digests"])
        with located(_RUNS):
            for name in names:
                saved.read(name)
        how = {name: packed.facts[name] for name in ("order", "pool_order", "pool_depth")}
        runs = read_runs([folder / _RUNS / name for name in names], metadata=table, **how)
        if runs.names != table["name"].tolist():
            raise InputError("its run files are not those of its table of runs. Get the artifact anew.")
        return runs

    def _names_of_runs(self, folder: Path) -> list[str]:
        return _run_names(folder)


class QrelsArtifact(ReuseArtifact):
    """A Qrels: a row per judgment, with all its columns."""

    ARTIFACT_TYPE, _called = "qrels", "qrels"

    @staticmethod
    def write(qrels: Qrels, folder: Path) -> None:
        facts = {"rel": qrels.stated_rel, "topics": qrels.topics}
        Packed(frames={"judgments": qrels.to_frame()}, facts=facts, settings={}).save(folder)

    def _read(self, folder: Path) -> Qrels:
        packed = _packed(folder)
        return Qrels(packed.frames["judgments"], topics=packed.facts["topics"], rel=packed.facts["rel"])


class PoolArtifact(ReuseArtifact):
    """A Pool: a row per document, and one per document and run that contributed it."""

    ARTIFACT_TYPE, _called = "pool", "pool"

    @staticmethod
    def write(pool: Pool, folder: Path) -> None:
        documents = pool.to_frame()[["qid", "docno"]].join(pool.columns)
        entries = pd.DataFrame({"document": pool.entries.document, "run": pool.entries.run, "rank": pool.entries.rank})
        who = pool.contributors
        contributors = who and {"rule": who.rule.value, "runs": who.runs.tolist(), "assumed": list(who.assumed)}
        facts = {"topics": pool.topics, "order": pool.order, "strategy": pool.strategy, "contributors": contributors}
        frames = {"documents": documents, "entries": entries.astype("int64"), "run_table": pool.run_table}
        if pool.unsampled is not None:
            PoolArtifact.write(pool.unsampled, folder / _UNSAMPLED)
            facts |= digests_of({_UNSAMPLED: read_file(folder / _UNSAMPLED / CONTENTS)})
        Packed(frames=frames, facts=facts, settings=pool.settings).save(folder)

    def _read(self, folder: Path) -> Pool:
        packed = _packed(folder)
        facts, entries, table = packed.facts, packed.frames["entries"], _run_table(packed)
        plain = Pool.from_frame(packed.frames["documents"], topics=facts["topics"], settings={})
        who, order = facts["contributors"], facts["order"]
        check_order_or_none("order", order)
        document, run, rank = (entries[name].to_numpy(dtype=np.int64) for name in ("document", "run", "rank"))
        fits = (document >= 0) & (document < len(plain)) & (run >= 0) & (run < len(table)) & (rank >= 1)
        if not fits.all() or (np.diff(document) < 0).any():
            raise InputError("some run contributed a document that is not there. Get the artifact anew.")
        return Pool(
            plain.documents,
            Contributions(offsets(np.bincount(document, minlength=len(plain))), run, rank),
            run_table=table,
            columns=plain.columns,
            contributors=who and Contributors(Rule(who["rule"]), _flags(who["runs"]), tuple(map(str, who["assumed"]))),
            order=order,
            strategy=facts["strategy"],
            settings=packed.settings,
            unsampled=self._unsampled(folder, facts),
        )

    def _unsampled(self, folder: Path, facts: Mapping[str, Any]) -> Pool | None:
        part = folder / _UNSAMPLED
        if _UNSAMPLED not in facts and not part.is_dir():
            return None
        with located(_UNSAMPLED):
            _check_digests(part, facts.get(_UNSAMPLED))
        return self._read(part)

    def _names_of_runs(self, folder: Path) -> list[str]:
        return _run_names(folder)


class ScoresArtifact(ReuseArtifact):
    """Scores of runs by topic and measure."""

    ARTIFACT_TYPE, _called = "scores", "scores"

    @staticmethod
    def write(scores: Scores, folder: Path) -> None:
        scores.save(folder)

    def _read(self, folder: Path) -> Scores:
        found = read_result(folder)
        if not isinstance(found, Scores):
            raise InputError(f"it holds {shown(found)}, where Scores were expected. Get the artifact anew.")
        _check_table(found.run_table, "name", "team", "type")
        return found


def _check_digests(folder: Path, digest: Any) -> None:
    """Raise unless the contents of a folder are those of a digest, and have the digests of all other files."""
    told_by = json.loads(SavedFiles(folder, {CONTENTS: digest}).read(CONTENTS)) if isinstance(digest, str) else {}
    if not told_by.get("files"):
        raise InputError(
            "it has no digests, so that nobody can tell whether its files are those that were written. Get the "
            "artifact anew, or write it again with to_artifact()."
        )


def _packed(folder: Path) -> Packed:
    found = read_result(folder)
    if not isinstance(found, Packed):
        raise InputError(f"it holds {shown(found)}, which is no content of an artifact. Get the artifact anew.")
    return found


def _run_table(packed: Packed) -> pd.DataFrame:
    table = packed.frames["run_table"]
    _check_table(table, "name", "team", "type", "pooled")
    return table


def _check_table(table: pd.DataFrame, *columns: str) -> None:
    names = table["name"] if set(columns) <= set(table.columns) else [None]
    if len(set(names)) < len(table) or not all(isinstance(name, str) for name in names):
        raise InputError("its table of runs is damaged. Get the artifact anew.")


def _run_names(folder: Path) -> list[str]:
    return _run_table(_packed(folder))["name"].tolist()


def _flags(given: Any) -> NDArray[np.bool_]:
    if not isinstance(given, list) or not all(isinstance(one, bool) for one in given):
        raise InputError("it does not say which runs contributed. Get the artifact anew.")
    return np.array(given, dtype=np.bool_)
