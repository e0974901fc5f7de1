"""Runs, pools, judgments and scores as artifacts of PyTerrier: a folder that can be packed, shared and loaded."""

from __future__ import annotations

import html
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import count, examples, told
from pt_reuse._errors import InputError, door
from pt_reuse._files import checked_path
from pt_reuse._result import Record, read_result
from pt_reuse.arrays.lists import offsets
from pt_reuse.collections.collection import catalogue_names, catalogued, without_runs
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.pool import Contributions, Contributors, Pool, Rule
from pt_reuse.scoring.scores import Scores

#: the folder of the run files, and of the documents of a sampled pool that are not to be judged
_RUNS, _UNSAMPLED = "runs", "unsampled"
#: what PyTerrier reads of every artifact
_META = "pt_meta.json"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Packed(Record):
    """Frames and facts that an artifact is made of."""

    frames: Mapping[str, pd.DataFrame]
    facts: Mapping[str, Any]


class ReuseArtifact(pt.Artifact):
    """Runs, judgments, a pool or scores in a folder; ``content`` returns them."""

    ARTIFACT_FORMAT: ClassVar[str] = "reuse"
    ARTIFACT_PACKAGE_HINT: ClassVar[str] = "pt-reuse"
    #: what it holds, and how the usage in its card calls it
    ARTIFACT_TYPE: ClassVar[str]
    _called: ClassVar[str]

    def __init__(self, path: str | Path):
        super().__init__(path)
        self.folder = Path(path)

    @cached_property
    def content(self) -> Any:
        """Return what the artifact holds: a RunSet, a Pool, a Qrels or Scores."""
        return self._read(self.folder)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.folder)!r})"

    def to_hf(self, repo: str, **options: Any) -> None:
        """Upload the artifact to the Hugging Face Hub, as pyterrier's own artifacts, with a card that is filled in.

        Raises:
            InputError: runs, or a pool with its runs, that NIST gives to people who sign its agreement.
        """
        self._check_terms()
        super().to_hf(repo, **options)

    def to_zenodo(self, **options: Any) -> None:
        """Upload the artifact to Zenodo, as pyterrier's own artifacts, with a description that is filled in.

        Raises:
            InputError: as :meth:`to_hf`.
        """
        self._check_terms()
        super().to_zenodo(**options)

    def to_p2p(self, *arguments: Any, **options: Any) -> None:
        """Send the artifact to a peer, as pyterrier's own artifacts.

        Raises:
            InputError: as :meth:`to_hf`.
        """
        self._check_terms()
        super().to_p2p(*arguments, **options)

    def _read(self, folder: Path) -> Any:
        raise NotImplementedError

    def _names_of_runs(self) -> list[str]:
        """Return the names of the runs whose rankings the artifact holds."""
        return []

    def _check_terms(self) -> None:
        names = set(self._names_of_runs())
        for name in catalogue_names() if names else ():
            collection = without_runs(name)
            if collection is None or collection.access != "password":
                continue
            known = catalogued(name)
            theirs = [] if known is None or known.submitted is None else known.submitted["name"].tolist()
            both = [run for run in theirs if run in names]
            if 2 * len(both) >= len(names):
                raise InputError(
                    f"not shared: {count(len(both), 'run')} of {len(names)} ({examples(both)}) "
                    f"{'have names' if len(both) > 1 else 'has the name'} of runs submitted to {collection.title}. "
                    "NIST gives these to people who signed its agreement, which does not let them pass the runs on. "
                    "Share scores or judgments instead, which others can compute or have. If the runs are your own, "
                    "give them other names."
                )

    @property
    def _card(self) -> Mapping[str, Any]:
        found = json.loads((self.folder / _META).read_text(encoding="utf-8")).get("card", {})
        return found if isinstance(found, dict) else {}

    def _sections(self, load: str) -> Iterator[tuple[str, str, bool]]:
        """Yield heading, text, and whether the text is code."""
        card = self._card
        yield "Description", str(card.get("description") or card.get("what", "")), False
        yield "Content", str(card.get("what", "")), False
        yield "Usage", f"import pyterrier as pt  # pip install pt-reuse\n{self._called} = {load}.content", True
        conventions = "\n".join(f"{name}: {value}" for name, value in dict(card.get("settings") or {}).items())
        if conventions:
            yield "Conventions", conventions, True
        yield "Source", str(card.get("source") or "Not stated."), False
        yield "Licence", str(card.get("license") or "Not stated."), False

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
        names = [path.name for path in runs.write(folder / _RUNS)]
        facts: dict[str, Any] = {"files": names, "order": runs.order}
        facts |= {"pool_order": runs.how_pooled.order, "pool_depth": runs.how_pooled.depth}
        Packed(frames={"run_table": runs.run_table}, facts=facts, settings=runs.settings).save(folder)

    def _read(self, folder: Path) -> RunSet:
        packed = read_result(folder)
        # by name alone, since an artifact may be anybody's
        files = [folder / _RUNS / Path(name).name for name in packed.facts["files"]]
        how = {name: packed.facts[name] for name in ("order", "pool_order", "pool_depth")}
        return read_runs(files, metadata=packed.frames["run_table"], **how)

    def _names_of_runs(self) -> list[str]:
        return [str(name) for name in read_result(self.folder).frames["run_table"]["name"]]


class QrelsArtifact(ReuseArtifact):
    """A Qrels: a row per judgment, with all its columns."""

    ARTIFACT_TYPE, _called = "qrels", "qrels"

    @staticmethod
    def write(qrels: Qrels, folder: Path) -> None:
        facts = {"rel": qrels.stated_rel, "topics": qrels.topics}
        Packed(frames={"judgments": qrels.to_frame()}, facts=facts, settings={}).save(folder)

    def _read(self, folder: Path) -> Qrels:
        packed = read_result(folder)
        return Qrels(packed.frames["judgments"], **packed.facts)


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
        Packed(frames=frames, facts=facts, settings=pool.settings).save(folder)
        if pool.unsampled is not None:
            PoolArtifact.write(pool.unsampled, folder / _UNSAMPLED)

    def _read(self, folder: Path) -> Pool:
        packed = read_result(folder)
        facts, entries = packed.facts, packed.frames["entries"]
        plain = Pool.from_frame(packed.frames["documents"], topics=facts["topics"], settings={})
        starts = offsets(np.bincount(entries["document"], minlength=len(plain)))
        contributed = Contributions(starts, entries["run"].to_numpy(), entries["rank"].to_numpy())
        who = facts["contributors"]
        return Pool(
            plain.documents,
            contributed,
            run_table=packed.frames["run_table"],
            columns=plain.columns,
            contributors=who and Contributors(Rule(who["rule"]), np.array(who["runs"]), tuple(who["assumed"])),
            order=facts["order"],
            strategy=facts["strategy"],
            settings=packed.settings,
            unsampled=self._read(folder / _UNSAMPLED) if (folder / _UNSAMPLED).is_dir() else None,
        )

    def _names_of_runs(self) -> list[str]:
        return [str(name) for name in read_result(self.folder).frames["run_table"]["name"]]


class ScoresArtifact(ReuseArtifact):
    """Scores of runs by topic and measure."""

    ARTIFACT_TYPE, _called = "scores", "scores"

    @staticmethod
    def write(scores: Scores, folder: Path) -> None:
        scores.save(folder)

    def _read(self, folder: Path) -> Scores:
        found: Scores = read_result(folder)
        return found


_KINDS: dict[type, Any] = {RunSet: RunsArtifact, Qrels: QrelsArtifact, Pool: PoolArtifact, Scores: ScoresArtifact}


@door
def to_artifact(
    content: RunSet | Qrels | Pool | Scores,
    folder: str | Path,
    *,
    title: str | None = None,
    description: str | None = None,
    source: str | None = None,
    license: str | None = None,
) -> ReuseArtifact:
    """Write runs, judgments, a pool or scores as an artifact of PyTerrier.

    ``pt.Artifact.load(folder).content`` has it back, and so have ``from_hf``, ``from_zenodo`` and ``from_url`` once it
    was shared: ``artifact.build_package()`` makes one file, ``to_hf`` and ``to_zenodo`` upload it, with a card that
    says what it is, under which conventions it was made, and how it is loaded. Runs that NIST gives to people who sign
    its agreement are not uploaded.

    Args:
        content: a RunSet, a Qrels, a Pool or Scores.
        folder: where to; a new folder.
        title: what the artifact is called in its card.
        description: what it is, in a sentence or more.
        source: where its content is from, such as a paper.
        license: under which licence it is shared, an SPDX identifier such as ``"cc-by-4.0"``.

    Returns:
        pyterrier.Artifact: of type ``run_set``, ``qrels``, ``pool`` or ``scores``, with `content`.

    Raises:
        InputError: something else, a folder that exists or cannot be written to, a run whose name cannot be a file's.

    Example:
        >>> import pyterrier as pt, pt_reuse as ptr, tempfile
        >>> field = ptr.simulate_field(seed=7, n_topics=3)
        >>> folder = tempfile.mkdtemp() + "/field"
        >>> artifact = ptr.to_artifact(field.runs, folder, title="A simulated field", license="cc0-1.0")
        >>> pt.Artifact.load(folder).content.names == field.runs.names
        True
    """
    kind = next((artifact for known, artifact in _KINDS.items() if isinstance(content, known)), None)
    if kind is None:
        parts = [f".{name}" for name in ("runs", "qrels", "pool") if type(getattr(content, name, None)) in _KINDS]
        hint = f" Give its {' or '.join(parts)}." if parts else ""
        saved = " A result has .save(), and is read by read_result()." if isinstance(content, Record) else ""
        raise InputError(
            f"an artifact is made of a RunSet, Qrels, Pool or Scores, got {told(content)}.{hint}{saved}",
            argument="content",
        )
    path = checked_path(folder).absolute()
    if path.exists():
        raise InputError(f"{path} exists. Give a new folder.", argument="folder")
    card = {"title": title, "description": description, "source": source, "license": license}
    wrong = [name for name, text in card.items() if not isinstance(text, str | None)]
    if wrong:
        raise InputError(f"{wrong[0]} must be a text, got {told(card[wrong[0]])}.", argument=wrong[0])
    settings = {name: str(value) for name, value in (getattr(content, "settings", None) or {}).items()}
    meta = {"type": kind.ARTIFACT_TYPE, "format": kind.ARTIFACT_FORMAT, "package_hint": kind.ARTIFACT_PACKAGE_HINT}
    meta["card"] = {**card, "what": " ".join(repr(content).split()), "settings": settings}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as stage:
            part = Path(stage) / "artifact"
            part.mkdir()
            kind.write(content, part)
            (part / _META).write_text(json.dumps(meta, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            os.replace(part, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written to: {error.strerror or error}.", argument="folder") from error
    made: ReuseArtifact = kind(path)
    return made
