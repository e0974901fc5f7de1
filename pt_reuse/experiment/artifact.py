"""Runs, pools, judgments and scores as artifacts of PyTerrier: a folder that can be packed, shared and loaded."""

from __future__ import annotations

import html
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._files import read_file
from pt_reuse._saving import CONTENTS, DAMAGED, SavedFiles, digests_of, read_result
from pt_reuse.arrays.lists import offsets
from pt_reuse.collections.runs import check_shareable
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet, read_runs
from pt_reuse.data.sharing import DIGEST, META, as_json
from pt_reuse.errors import InputError, located, shown
from pt_reuse.pooling.pool import Contributions, Contributors, Pool, Rule
from pt_reuse.result import Record
from pt_reuse.scoring.scores import Scores

#: the folder of the run files, and of the documents of a sampled pool that are not to be judged
_RUNS, _UNSAMPLED = "runs", "unsampled"
#: sections of a card that are code -> its language
_CODE = {"Usage": "python", "Conventions": ""}


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
        self.folder, self._allowed = Path(path), ""

    @cached_property
    def content(self) -> Any:
        """Return what the artifact holds: a RunSet, a Pool, a Qrels or Scores.

        Raises:
            InputError: a file that is missing, or not as it was written.
        """
        with located(str(self.folder)):
            try:
                _check_digests(self.folder, self._meta.get(DIGEST))
                return self._read(self.folder)
            except InputError:
                raise
            except DAMAGED as error:
                raise InputError(f"the artifact cannot be read ({error}). Get it, or make it, anew.") from error

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.folder)!r})"

    def allowed(self, who: str) -> ReuseArtifact:
        """Return the artifact as one that may be shared although NIST gives its runs under an agreement.

        Args:
            who: who says so and why, such as ``"all are our own, J. Doe"``; it is written into what is shared.
        """
        if not isinstance(who, str) or not who.strip():
            raise InputError(f"who must be a text that says who allows it and why, got {shown(who)}.", argument="who")
        made = type(self)(self.folder)
        made._allowed = who
        return made

    def build_package(self, package_path: str | None = None, **options: Any) -> str:
        """Make one file of the artifact, as ``to_hf``, ``to_zenodo`` and ``to_p2p`` do, and return its path.

        Args:
            package_path: where to; default beside the folder.
            **options: as of pyterrier's artifacts.

        Raises:
            InputError: runs, or a pool with its runs, some of which have names of runs that NIST gives to people who
                sign its agreement. A name that anybody may give, such as ``bm25`` or ``run1``, is none of these.
        """
        runs = getattr(self.content, "run_table", pd.DataFrame())
        if "name" in runs and not self._allowed and not isinstance(self.content, Scores):
            check_shareable(runs["name"], ".allowed('who, and why')")
        return str(super().build_package(package_path, **options))

    def _package_files(self) -> Iterator[tuple[str, str | io.BytesIO]]:
        for name, file in super()._package_files():
            if name == META and self._allowed:
                file = io.BytesIO(as_json({**self._meta, "allowed": self._allowed}))
            yield name, file

    @abstractmethod
    def _read(self, folder: Path) -> Any:
        """Return what the files of a folder hold."""

    @property
    def _meta(self) -> dict[str, Any]:
        """Return what PyTerrier reads of the artifact."""
        try:
            return dict(json.loads(read_file(self.folder / META)).items())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, AttributeError, RecursionError) as error:
            raise InputError(f"it is damaged ({error}). Get the artifact anew.", place=META) from error

    def _sections(self, load: str) -> dict[str, str]:
        """Return heading -> text of what is said of the artifact where it is shared."""
        card = self._meta.get("card", {})
        sections = {
            "Description": card.get("description") or card.get("what", ""),
            "Content": card.get("what", ""),
            "Usage": f"import pyterrier as pt  # pip install pt-reuse\n{self._called} = {load}.content",
            "Conventions": "\n".join(f"{name}: {value}" for name, value in card.get("settings", {}).items()),
            "Source": card.get("source") or "Not stated.",
            "Licence": card.get("license") or "Not stated.",
            "Who allows that these runs are shared": self._allowed,
        }
        return {heading: str(text) for heading, text in sections.items() if text}

    def _hf_readme(
        self,
        *,
        repo: str,
        branch: str | None = "main",
        pretty_name: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> str:
        card = self._meta.get("card", {})
        title = pretty_name or str(card.get("title") or repo.rsplit("/", maxsplit=1)[-1])
        where = repo if branch in (None, "main") else f"{repo}@{branch}"
        kind = f"pyterrier-artifact.{self.ARTIFACT_TYPE}"
        tags = ["pyterrier", "pyterrier-artifact", kind, f"{kind}.{self.ARTIFACT_FORMAT}"]
        head = [f"pretty_name: {json.dumps(title)}", "tags:", *(f"- {tag}" for tag in tags)]
        head += ["task_categories:", "- text-retrieval", "viewer: false"]
        head += [f"license: {json.dumps(card['license'])}"] if card.get("license") else []
        parts = [
            f"## {heading}\n\n" + (f"```{_CODE[heading]}\n{text}\n```" if heading in _CODE else text)
            for heading, text in self._sections(f"pt.Artifact.from_hf({where!r})").items()
        ]
        return "\n".join(["---", *head, "---", "", f"# {title}", "", "\n\n".join(parts), ""])

    def _zenodo_metadata(
        self, *, zenodo_id: str, pretty_name: str | None = None, metadata: dict[str, Any]
    ) -> dict[str, Any]:
        card, made = self._meta.get("card", {}), super()._zenodo_metadata(zenodo_id=zenodo_id, metadata=metadata)
        parts = [
            f"<h2>{heading}</h2>\n<{tag}>{html.escape(text)}</{tag}>"
            for heading, text in self._sections(f"pt.Artifact.from_zenodo({str(zenodo_id)!r})").items()
            for tag in ("pre" if heading in _CODE else "p",)
        ]
        named = {"title": pretty_name or card.get("title"), "license": card.get("license")}
        return {**made, "description": "\n".join(parts), **{key: value for key, value in named.items() if value}}


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
        packed = _read(folder)
        names, saved = list(packed.facts["files"]), SavedFiles(folder / _RUNS, packed.facts["digests"])
        with located(_RUNS):
            for name in names:
                saved.read(name)
        how = {name: packed.facts[name] for name in ("order", "pool_order", "pool_depth")}
        return read_runs([folder / _RUNS / name for name in names], metadata=packed.frames["run_table"], **how)


class QrelsArtifact(ReuseArtifact):
    """A Qrels: a row per judgment, with all its columns."""

    ARTIFACT_TYPE, _called = "qrels", "qrels"

    @staticmethod
    def write(qrels: Qrels, folder: Path) -> None:
        facts = {"rel": qrels.stated_rel, "topics": qrels.topics}
        Packed(frames={"judgments": qrels.to_frame()}, facts=facts, settings={}).save(folder)

    def _read(self, folder: Path) -> Qrels:
        packed = _read(folder)
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
        packed = _read(folder)
        facts, entries, who, unsampled = packed.facts, packed.frames["entries"], packed.facts["contributors"], None
        plain = Pool.from_frame(packed.frames["documents"], topics=facts["topics"], settings={})
        document, run, rank = (entries[name].to_numpy(dtype=np.int64) for name in ("document", "run", "rank"))
        part = folder / _UNSAMPLED
        if _UNSAMPLED in facts or part.is_dir():
            with located(_UNSAMPLED):
                _check_digests(part, facts.get(_UNSAMPLED))
            unsampled = self._read(part)
        return Pool(
            plain.documents,
            Contributions(offsets(np.bincount(document, minlength=len(plain))), run, rank),
            run_table=packed.frames["run_table"],
            columns=plain.columns,
            contributors=who and Contributors(Rule(who["rule"]), np.array(who["runs"], dtype=bool), (*who["assumed"],)),
            order=facts["order"],
            strategy=facts["strategy"],
            settings=packed.settings,
            unsampled=unsampled,
        )


class ScoresArtifact(ReuseArtifact):
    """Scores of runs by topic and measure."""

    ARTIFACT_TYPE, _called = "scores", "scores"

    @staticmethod
    def write(scores: Scores, folder: Path) -> None:
        scores.save(folder)

    def _read(self, folder: Path) -> Scores:
        return _read(folder, Scores)


def _check_digests(folder: Path, digest: Any) -> None:
    """Raise unless the contents of a folder are those of a digest, and have the digests of all other files."""
    contents = json.loads(SavedFiles(folder, {CONTENTS: digest}).read(CONTENTS)) if isinstance(digest, str) else {}
    if not contents.get("files"):
        raise InputError(
            "it has no digests, so that nobody can tell whether its files are those that were written. Get the "
            "artifact anew, or write it again with to_artifact()."
        )


def _read(folder: Path, kind: type[Any] = Packed) -> Any:
    record = read_result(folder)
    if not isinstance(record, kind):
        raise InputError(f"it holds {shown(record)}, where {kind.__name__} was expected. Get the artifact anew.")
    return record
