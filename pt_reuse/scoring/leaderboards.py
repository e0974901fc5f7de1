"""read_leaderboard, and scores of answers by items: scores of runs that no judgments of documents give."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._files import user_path
from pt_reuse.arrays.item_banks import weighted_recall
from pt_reuse.data.answers import MEASURES, Answers, as_answers
from pt_reuse.data.metadata import RunLabels
from pt_reuse.data.packed_files import UnreadableError, headed_judgments, judgment_header, read_bytes
from pt_reuse.data.score_tables import (
    ALL,
    FORMS,
    LONG,
    NO_NAME,
    READ,
    TABLE,
    TableForm,
    decimals,
    each,
    number,
    parse_frame,
    parse_leaderboard,
)
from pt_reuse.data.task_columns import (
    LARGEST,
    MAIN,
    ResultChoice,
    Selection,
    is_measure_name,
    is_results_folder,
    read_results,
)
from pt_reuse.errors import InputError, choice, count, examples, flag, located, names, shown, warn
from pt_reuse.errors import names as checked_names
from pt_reuse.scoring.scores import MISSING, Scores


def item_measures(answers: Answers, given: Any) -> list[str]:
    """Return the scores that are asked for, else those of items that weigh alike, or by their weights, too."""
    if given is None:
        differ = len(set(answers.items["weight"])) > 1
        return ["all_score", "weighted_score"] if differ else ["all_score"]
    return list(dict.fromkeys(choice("measures", name, MEASURES) for name in names("measures", given)))


def score_answers(answers: Any, measures: Any = None, *, judge: str | None = None) -> Scores:
    """Score answers by a bank of items, so that studies of scores can be asked of them.

    Args:
        answers: what :func:`~pt_reuse.read_answers` returned, or what it reads.
        measures: ``all_score`` (every item alike), ``weighted_score`` (vital items weigh 1, okay ones .5, or as given),
            ``vital_score`` (vital items alone; where no importance is given, those that weigh 1 or more), and each with
            ``strict_`` before it, where partial matches count nothing; default ``all_score``, and ``weighted_score``
            where items weigh differently.
        judge: whose matches count; default the only judge.

    Returns:
        Scores: by topic; a missing match counts as not found, and a topic without weighing items 0.

    Raises:
        InputError: an unknown measure or judge, several judges and none named.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> wide = pd.DataFrame({"qid": ["1", "1"], "item": ["a", "b"], "A": [1, 0.5], "B": [0, 1]})
        >>> ptr.items.score_answers(wide, ["all_score", "strict_all_score"]).mean
          name  all_score  strict_all_score
        0    A       0.75               0.5
        1    B       0.50               0.5

    Source: Pradeep et al. 2025, The great nugget recall, SIGIR (the AutoNuggetizer).
    """
    judged = as_answers(answers)
    return scores_of_answers(judged, item_measures(judged, measures), judge, np.ones(len(judged.items), dtype=bool))


def scores_of_answers(answers: Answers, measures: list[str], judge: str | None, keep: NDArray[np.bool_]) -> Scores:
    """Return the scores of answers, in which only some items count."""
    topic, n_topics = answers.topic, len(answers.topics)
    values = [
        weighted_recall(answers.credit(name, judge), np.where(keep, answers.weights(name), 0.0), topic, n_topics)
        for name in measures
    ]
    matches = answers.matches[answers.of_judge(judge)]
    has_topic = pd.DataFrame(~np.isnan(matches)).groupby(topic).any().to_numpy()
    whose = answers.judges[answers.of_judge(judge)]
    return Scores(
        run_table=answers.run_table[["name", "team", "type"]],
        topics=answers.topics,
        measures=measures,
        values=np.stack(values),
        complete=True,
        has_topic=has_topic,
        settings={"scores": "weighted recall of items", "judge": whose, "complete": True},
    )


#: which rows of a leaderboard become scores
ROWS = ("topics", ALL)
#: what names the run of a file of trec_eval
NAMES = ("file", "tag")
#: what trec_eval says of all topics and of none: no score of a topic is missing
_OF_ALL_TOPICS = {"runid", "num_q", "gm_map", "gm_bpref"}
#: the measure of a table
MEASURE = "score"
#: a topic that a run lacks: what becomes of it in scores, and what of a table is left out for it
_DROPPED = {"drop_tasks": "qid", "drop_systems": "name"}
#: what names of tasks that MTEB repaired or cut have beside those of the first version
_VERSION = re.compile(r"\.v\d+$|HardNegatives|Retrieval")
#: decimals from which on a value is taken for a rounded one
_ROUNDED = 3


def read_leaderboard(
    path: str | Path | pd.DataFrame,
    format: str | None = None,
    *,
    rows: str = "topics",
    names: str = "file",
    header: bool = False,
    missing: str | None = None,
    tasks: str | Iterable[str] | None = None,
    ignore: str | Iterable[str] | None = None,
    transposed: bool = False,
    measure: str = MEASURE,
    score: str = MAIN,
    split: str | Mapping[str, str] | None = None,
    revisions: str = "most",
    external: str = "no",
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    metadata: pd.DataFrame | None = None,
) -> Scores:
    r"""Read a leaderboard, scores of runs by topic and measure: of the tools of TREC, or a table.

    The columns of the first formats are separated by white space; CSV and TSV need a first line with the names of
    columns, and so does a table in Markdown, around which a page may have text:

    ====================== ======================================================================
    ``ir_measures``        run, topic, measure, value
    ``tot``                run, measure, topic, value
    ``trec_eval``          measure, topic, value; the run is what the file is called
    ``rag4reports``        topic, run, measure, value
    ``ranking``            topic, ``Q0``, run, rank (which is not looked at), value, measure
    ``jsonl``              an object a line: ``run_id topic_id measure value``
    ``ir_measures_topics`` topic, measure, value, as the command ``ir_measures -q`` prints them
    ``ir_measures_means``  measure, value, as it does without ``-q``; the run is what the file is
                           called, also of JSON that the command writes
    ``long``               a line for each score: columns name, qid, value and maybe measure, or
                           called ``model``, ``task``, ``score`` and the like; others are not
                           looked at
    ``table``              a line for each system, a column for each task
    ``measures``           a line for each system, or system and topic, and a column for each
                           measure: what pt.Experiment returns, and gdeval and ndeval write
    ====================== ======================================================================

    Names in tables are taken out of links in Markdown and HTML. Where each score has the sign of per cent, ``45.3%``
    is 45.3. Numbers have the digits 0 to 9.

    A column counts as a task if its name and its values leave no doubt. What may be a mean, a rank, a spread, a size,
    a time, a count, a p-value and the like, by its name or because it equals the mean or the sum of
    others, is an error until `tasks` or `ignore` says what it is; so are percentages beside fractions, by task or by
    system. A table whose columns are measures is never averaged over them.

    The topic ``all`` is the value of a run over all topics. Scores and their means are computed from the single topics;
    a file with only the rows ``all`` gives Scores of one topic of that name.

    Args:
        path: a file, packed or not, or a folder of files, whose rows are put together; hidden files are left out. Or a
            frame, of the format ``long``, ``table`` or ``measures``. Or a folder of results as MTEB keeps them,
            ``MODEL/REVISION/TASK.json``.
        format: one of the formats above; default: recognised by the lines (at white space by the number of columns,
            the place of the topic ``all`` and the names of measures).
        rows: the scores are those of the ``"topics"`` (default), or those of the rows ``"all"``.
        names: the run of a trec_eval file has the name of the ``"file"`` (default), with its ending, as in AutoJudge,
            or the ``"tag"`` in its row ``runid``.
        header: leave out the first line of each file; a line of column names is always left out. Not for CSV and TSV.
        missing: a topic that a run lacks is an ``"error"`` (default), counts 0 (``"zero"``), or is left out of the mean
            of this run (``"leave_out"``, the default for MTEB's results), as in :meth:`Scores.from_frame`;
            ``"drop_tasks"`` leaves out each topic that some run lacks, ``"drop_systems"`` each run that lacks some
            topic, and the settings say which.
        tasks: the columns, or topics, that are scores of a task; default all but the names of systems. Of these nothing
            is doubted; other scales are a warning.
        ignore: columns, or topics, to leave out.
        transposed: a table has a line for each topic and a column for each system. Topics without names are numbered.
        measure: what a table has, or CSV without a column of measures.
        score: the key of the score in MTEB's results; where a task has several subsets, their mean.
        split: of MTEB's results, for all tasks or a dict of task -> split; default ``test``, of MSMARCO ``dev``.
        revisions: which revision of a model is read of MTEB's results: ``"most"`` (default), that with the most tasks,
            of equals that of the newest version of MTEB; or ``"each"``, a system called ``MODEL@REVISION``.
        external: whether scores that the authors of a model reported count, as a revision of that name: ``"no"``
            (default), ``"yes"``, or these ``"only"``.
        teams: run name -> team.
        types: run name -> type.
        metadata: a frame with ``name`` and any of ``team`` and ``type``.

    Returns:
        Scores: with the names of measures as ir_measures writes them (``AP`` for ``map``).

    Raises:
        InputError: with the file, the line and what to do: no such file, lines of another form or of an ambiguous
            format, two rows for the same score, a value that is no number within 1e100, a system that is in a table
            twice or has no name, a column of a table that may be no task, percentages beside fractions, lines of
            judgments or of a run.

    Warns:
        ReuseWarning: a measure that is left out, as its values are texts or only in the rows ``all``; rows ``all`` that
            are neither the mean nor the sum over the topics; columns beside measures, which are left out; tasks that
            were chosen, or single scores, on another scale than others.

    Example:
        >>> import tempfile, pathlib, pt_reuse as ptr
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "judge.eval.txt"
        >>> _ = file.write_text("A 1 P@5 0.4\nA 2 P@5 0.2\nB 1 P@5 0.6\nB 2 P@5 0.6\nA all P@5 0.3\nB all P@5 0.6\n")
        >>> ptr.read_leaderboard(file).mean
          name  P@5
        0    A  0.3
        1    B  0.6

        A table of models by tasks:

        >>> file = file.with_name("models.csv")
        >>> _ = file.write_text("Rank,Model,Average,QA,Search\n1,large,0.6,0.8,0.4\n2,small,0.4,0.5,0.3\n")
        >>> ptr.read_leaderboard(file, ignore=["Rank", "Average"]).mean
            name  score
        0  large    0.6
        1  small    0.4
    """
    if format is not None:
        choice("format", format, READ)
    choice("rows", rows, ROWS)
    choice("names", names, NAMES)
    is_folder = not isinstance(path, pd.DataFrame) and is_results_folder(path)
    missing = choice(
        "missing", ("leave_out" if is_folder else "error") if missing is None else missing, (*MISSING, *_DROPPED)
    )
    flag("header", header)
    flag("transposed", transposed)
    if not isinstance(measure, str) or not measure.strip():
        raise InputError(f"measure must be the name of a measure, got {shown(measure)}.", argument="measure")
    results = ResultChoice.of(
        score=score, split=split, revisions=revisions, external=external, tasks=tasks, ignore=ignore
    )
    of_files: dict[str, Any] = {"format": format, "teams": teams, "types": types, "metadata": metadata}
    of_files |= {"transposed": transposed or None, "header": header or None}
    of_files |= {"rows": None if rows == "topics" else rows, "names": None if names == "file" else names}
    of_folders = {"split": split, "score": None if score == MAIN else score}
    of_folders |= {
        n: v for n, v, usual in (("revisions", revisions, "most"), ("external", external, "no")) if v != usual
    }
    idle = [name for name, value in (of_files if is_folder else of_folders).items() if value is not None]
    if idle:
        kind = "tables and files of scores" if is_folder else "a folder of MTEB's results"
        raise InputError(f"{idle[0]} is for {kind}. Leave it out.", argument=idle[0])
    if is_folder:
        return _of_results(user_path(str(path)), results, missing, measure)
    form = TableForm(_selection(tasks, ignore), transposed, measure)
    with nullcontext() if isinstance(path, pd.DataFrame) else located(str(path)):
        if isinstance(path, pd.DataFrame):
            called, (found, formats) = "of a frame", _of_frame(path, format, form)
        else:
            found, formats = _read(path, format, form, names, header)
            called = Path(path).name
        _check_form(form, formats)
        frame, left_out = _chosen(found, rows)
        _check_named(found)
        if form.selection.tasks is None:
            _check_scale(frame)
        if missing == "error" and {TABLE, LONG} & set(formats):
            _check_every_score(frame)
        dropped: list[str] = []
        if missing in _DROPPED:
            frame, dropped = _without_gaps(frame, missing)
        scores = Scores.from_frame(
            frame, teams=teams, types=types, metadata=metadata, missing="error" if missing in _DROPPED else missing
        )
    of_all = set(frame["qid"]) == {ALL}
    settings = {
        "scores": f"leaderboard {called} ({', '.join(formats)})",
        "rows": f"{ALL!r} alone: none by topic" if of_all else "by topic",
        **({} if form.selection.tasks is None else {"tasks": f"{frame['qid'].nunique():,} chosen"}),
        **({"ignored": ", ".join(form.selection.ignored)} if form.selection.ignored else {}),
        **({"left out": ", ".join(left_out)} if left_out else {}),
        **({f"{missing.removeprefix('drop_')} left out, a score missing": ", ".join(dropped)} if dropped else {}),
    }
    return replace(scores, settings=settings | {k: v for k, v in scores.settings.items() if k != "scores"})


def _of_results(path: Path, chosen: ResultChoice, missing: str, measure: str) -> Scores:
    """Return the scores in a folder of results of MTEB."""
    with located(str(path)):
        found = read_results(user_path(path), chosen)
        frame, dropped = found.rows.assign(measure=measure), list[str]()
        if chosen.tasks is None:
            _tell_versions(frame["qid"].unique().tolist())
        if missing == "error":
            _check_every_score(frame)
        if missing in _DROPPED:
            frame, dropped = _without_gaps(frame, missing)
        kept = missing if missing in MISSING else "error"
        runs = found.runs[found.runs["name"].isin(frame["name"])]
        scores = Scores.from_frame(frame, metadata=runs[["name", "team"]], missing=kept)
    runs = scores.run_table[["name"]].merge(runs, on="name", how="left").assign(type=None)
    cells, n = int(scores.has_topic.sum()), count(len(scores.topics), "task")
    systems = f"{count(len(runs), 'system')} of {count(runs['model'].nunique(), 'model')}"
    settings: dict[str, Any] = {"systems": systems, **found.settings, "scores": f"{path.name}: {cells:,} scores on {n}"}
    settings["complete"] = scores.complete
    if dropped:
        settings[f"{missing.removeprefix('drop_')} left out, a score missing"] = (
            f"{len(dropped):,}: {examples(dropped)}"
        )
    return replace(scores, run_table=runs[["name", "team", "type", "model", "revision"]], settings=settings)


def _tell_versions(tasks: list[str]) -> None:
    """Warn of several versions of one task, which count more than once in a mean."""
    bare = [_VERSION.sub("", task) for task in tasks]
    several = [task for task, name in zip(tasks, bare, strict=True) if bare.count(name) > 1]
    if several:
        warn(f"versions of one task count as tasks each: {examples(several, 12)}. Choose by tasks=.")


def _selection(tasks: Any, ignore: Any) -> Selection:
    chosen = None if tasks is None else checked_names("tasks", tasks)
    return Selection(chosen, () if ignore is None else checked_names("ignore", ignore))


def _check_named(rows: pd.DataFrame) -> None:
    """Raise where a system, topic or measure has no name; that of a system tools write as ``nan`` and the like."""
    for column, noun, no_names in (("name", "system", NO_NAME), ("qid", "topic", {""}), ("measure", "measure", {""})):
        none = rows[column].isin([name for name in rows[column].unique() if name.strip().lower() in no_names])
        if none.any():
            row = rows[none].iloc[0]
            raise InputError(
                f"a {noun} is called {shown(row[column])}, which is no name. Give it one.",
                argument="path",
                place=row["place"],
            )


def _check_scale(rows: pd.DataFrame) -> None:
    """Warn of systems that are in per cent, and others in fractions, by a measure that is within 1."""
    for measure, mine in rows.groupby("measure", sort=False):
        if not is_measure_name(str(measure)) or str(measure).lower().startswith("num"):
            continue
        largest = mine["value"].abs().groupby(mine["name"], sort=False).max()
        beyond = largest.index[largest > 1].tolist()
        if beyond and len(beyond) < len(largest):
            warn(
                f"the values by {shown(measure)} are beyond 1 for {examples(beyond)}, and within 1 for others: "
                "percentages beside fractions? Write all on one scale."
            )


def _check_form(form: TableForm, formats: list[str]) -> None:
    """Raise where an option of tables is given, and no file is one."""
    given = {"transposed": form.transposed} if set(formats) <= {LONG} or not set(FORMS) & set(formats) else {}
    given |= {"measure": form.measure != MEASURE} if not {TABLE, LONG} & set(formats) else {}
    for option in (name for name, is_given in given.items() if is_given):
        raise InputError(
            f"{option} is for a table; this is of the format {formats[0]!r}. Give format={TABLE!r}.", argument=option
        )


def _there(rows: pd.DataFrame) -> pd.DataFrame:
    """Return whether each run, a row, has each topic, by all measures."""
    by = [pd.factorize(rows[column]) for column in ("name", "qid")]
    n_measures = rows["measure"].nunique()
    counts = np.zeros([len(known) for _, known in by], dtype=np.int64)
    np.add.at(counts, tuple(code for code, _ in by), 1)
    return pd.DataFrame(counts == n_measures, index=by[0][1], columns=by[1][1])


def _check_every_score(rows: pd.DataFrame) -> None:
    """Raise where a score of a table is missing."""
    there = _there(rows)
    holes = np.argwhere(~there.to_numpy())
    if not len(holes):
        return
    raise InputError(
        f"{len(holes):,} of {there.size:,} scores are missing, the first of system "
        f"{shown(there.index[holes[0][0]])}, task {shown(there.columns[holes[0][1]])}. missing='drop_tasks' leaves "
        f"out {count(int((~there.all()).sum()), 'task')} of {there.shape[1]:,}, missing='drop_systems' "
        f"{count(int((~there.all(axis=1)).sum()), 'system')} of {len(there):,}; missing='zero' counts a missing "
        "score 0, missing='leave_out' averages over the tasks that a system has.",
        argument="path",
    )


def _without_gaps(rows: pd.DataFrame, missing: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of what lacks no score, tasks or systems, and the names of the others."""
    there = _there(rows)
    full = there.all(axis=0 if missing == "drop_tasks" else 1)
    kept = rows[rows[_DROPPED[missing]].isin(full.index[full])]
    if kept.empty:
        what = "some system lacks each of the tasks" if missing == "drop_tasks" else "each system lacks some task"
        raise InputError(f"{what}, and nothing would be left. Take some of both out first.", argument="missing")
    return kept, full.index[~full].tolist()


def _of_frame(frame: pd.DataFrame, format: str | None, form: TableForm) -> tuple[pd.DataFrame, list[str]]:
    """Return what `_read` does, of a frame."""
    if format not in (None, *FORMS):
        raise InputError(f"format of a frame must be one of {examples(FORMS)}, got {format!r}.", argument="format")
    if frame.empty:
        raise InputError("path is a frame without a row or a column.", argument="path")
    _check_no_labels([str(name) for name in frame.columns])
    found, rows = parse_frame(frame, format, form)
    return _once(rows.assign(place=_places(rows, "row"))), [found]


def _check_no_labels(columns: Sequence[str] | None) -> None:
    """Raise where the names of columns are those of labels of documents, whose means are no scores."""
    if columns is not None and judgment_header(columns):
        named = f"the columns {examples(columns, 12)} are those of labels of documents, and no leaderboard. "
        raise InputError(f"{named}Read them by read_qrels().", argument="path")


def _read(path: Any, format: str | None, form: TableForm, names: str, header: bool) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of all files, with ``value`` as text and ``place``, file and line; and their formats."""
    files = _files(path)
    frames, formats = [], []
    for file in files:
        alone = len(files) == 1 and file == user_path(path)
        with nullcontext() if alone else located(file.name):
            try:
                data = read_bytes(file)
            except UnreadableError as error:
                raise InputError(f"{error}.", argument="path") from error
            _check_no_labels(headed_judgments(data))
            found, rows = parse_leaderboard(data, format, form, file_name=file.name, header=header)
            if found == "trec_eval" and names == "tag":
                rows = rows.assign(name=_tag(rows))
        where = "" if alone else f"{file.name}, "
        frames.append(rows.assign(place=_places(rows, f"{where}line")))
        formats.append(found)
    frame = pd.concat(frames, ignore_index=True)
    if frame.empty:
        raise InputError("there is no row but the one that names the columns.", argument="path")
    return _once(frame), list(dict.fromkeys(formats))


def _places(rows: pd.DataFrame, where: str) -> NDArray[np.object_]:
    """Return in words where each row stands."""
    return each(rows["line"].to_numpy(), lambda n: f"{where} {n:,}")


def _once(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows, of which no two must be of one score."""
    twice = frame.duplicated(["name", "qid", "measure"])
    if twice.any():
        row = frame[twice].iloc[0]
        same = (frame[["name", "qid", "measure"]] == row[["name", "qid", "measure"]]).all(axis=1)
        raise _wrong(
            row, f"is there more than once; before at {frame.loc[same, 'place'].iloc[0]}. Keep one of the rows"
        )
    return frame


def _wrong(row: pd.Series, what: str) -> InputError:
    of = f"the value of run {shown(row['name'])}, topic {shown(row['qid'])}, measure {shown(row['measure'])}"
    return InputError(f"{of} {what}.", argument="path", place=row["place"])


def _files(path: Any) -> list[Path]:
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise InputError(f"expected the path of a leaderboard, got {shown(path)}.", argument="path")
    place = user_path(path)
    if place.is_dir():
        found = sorted(file for file in place.iterdir() if not file.name.startswith("."))
        folders = [file.name for file in found if file.is_dir()]
        if folders:
            warn(f"folders within a leaderboard are left out: {examples(folders)}.")
        files = [file for file in found if file.is_file()]
        if not files:
            raise InputError("there is no file in the folder. Give the files of a leaderboard.", argument="path")
        return files
    if not place.is_file():
        raise InputError("no such file.", argument="path")
    return [place]


def _tag(rows: pd.DataFrame) -> str:
    tags = rows.loc[rows["measure"] == "runid", "value"].unique().tolist()
    if len(tags) != 1:
        raise InputError(
            f"there {'is no row' if not tags else 'are several rows'} `runid all TAG`, which would name the run. "
            "Give names='file'.",
            argument="names",
        )
    return str(tags[0])


def _chosen(rows: pd.DataFrame, which: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows that become scores, with numbers, and what is left out."""
    rows = _numbered(rows)
    texts = rows.loc[rows["text"], "measure"].unique().tolist()
    rows = rows[~rows["text"]]
    of_all = rows["qid"] == ALL
    if which == ALL or of_all.all():
        chosen = rows[of_all]
        if chosen.empty:
            raise InputError(f"no row has the topic {ALL!r}. Give rows='topics'.", argument="rows")
        by_topic_only = sorted(set(rows["measure"]) - set(chosen["measure"]))
        _tell_left_out(by_topic_only, f"no row {ALL!r}", set())
        _tell_left_out(texts, "texts for values", _OF_ALL_TOPICS)
        return chosen[["name", "qid", "measure", "value"]], [*texts, *by_topic_only]
    chosen = rows[~of_all]
    alone = list(dict.fromkeys(rows.loc[of_all & ~rows["measure"].isin(chosen["measure"]), "measure"]))
    _tell_left_out(texts, "texts for values", _OF_ALL_TOPICS)
    _tell_left_out(alone, f"rows {ALL!r} alone", _OF_ALL_TOPICS)
    without = sorted(set(rows["name"]) - set(chosen["name"]))
    if without:
        raise InputError(
            f"{count(len(without), 'run')} {'stands' if len(without) == 1 else 'stand'} in the rows {ALL!r} alone, "
            f"without a topic: {examples(without)}. Give rows={ALL!r}, or a leaderboard that has the topics of each "
            "run.",
            argument="path",
        )
    _check_all(chosen, rows[of_all])
    return chosen[["name", "qid", "measure", "value"]], [*texts, *alone]


def _numbered(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with numbers for values, and in ``text`` whether the values of the measure are texts instead."""
    cells = rows["value"].to_numpy(dtype=object)
    found = each(cells, number)
    is_text = pd.Series([value is None for value in found], index=rows.index, dtype=bool)
    numbers = np.where(is_text, np.nan, found).astype(np.float64)
    if is_text.all():
        row = rows.iloc[0]
        raise InputError(
            f"no value is a number; the first is {shown(row['value'])}. Write numbers such as 0.5, and check the "
            "format= of the file.",
            argument="path",
            place=row["place"],
        )
    all_text = is_text.groupby(rows["measure"]).transform("all")
    wrong = (is_text & ~all_text) | (~is_text & ~(np.abs(numbers) <= LARGEST))
    if wrong.any():
        row = rows[wrong].iloc[0]
        raise _wrong(
            row, f"must be a number within {LARGEST:g}, got {shown(row['value'])}: score it 0, or take the measure out"
        )
    return rows.assign(decimals=each(cells, decimals, int), value=numbers, text=all_text)


def _tell_left_out(measures: list[str], what: str, expected: set[str]) -> None:
    """Warn of measures that are left out for what they have, all but those of which nobody expects more."""
    told = [name for name in measures if name not in expected]
    if told:
        warn(f"the scores are without the measures that have {what}: {examples(told, 12)}.")


def _check_all(topics: pd.DataFrame, of_all: pd.DataFrame) -> None:
    """Warn of rows ``all`` that are neither the mean nor the sum of the topics."""
    n_topics = topics["qid"].nunique()
    by_topic = topics.groupby(["name", "measure"])["value"].agg(["sum", "mean"])
    both = of_all.merge(by_topic, left_on=["name", "measure"], right_index=True)
    rounded = both["decimals"] >= _ROUNDED
    allowed = 1e-9 * (1 + both["value"].abs()) + np.where(rounded, 10.0 ** -both["decimals"].clip(upper=12), 0.0)
    near = [(both["value"] - value).abs() <= allowed for value in (both["mean"], both["sum"] / n_topics)]
    # a count of trec_eval is added up
    near.append((both["value"] - both["sum"]).abs() <= np.maximum(allowed, n_topics * np.where(rounded, allowed, 0.0)))
    odd = both[~(near[0] | near[1] | near[2])]
    if len(odd):
        row = odd.iloc[int((odd["value"] - odd["mean"]).abs().argmax())]
        warn(
            f"the rows {ALL!r} of {examples(odd['measure'].unique(), 12)} are not the mean over the topics: run "
            f"{shown(row['name'])} has {row['value']:.4f} there, and the mean {row['mean']:.4f} by "
            f"{shown(row['measure'])}. Means are over the topics here; rows={ALL!r} takes these rows as they stand."
        )
