"""Scores of tasks: which columns of a table they are, and what lies in the folders of MTEB."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._files import user_path
from pt_reuse.data.packed_files import UnreadableError, read_bytes
from pt_reuse.errors import InputError, choice, count, did_you_mean, examples, names, shown, warn


def _words(text: str) -> set[str]:
    return set(text.split())


#: what a mean over tasks, their sum or the rank by it is called
_MEANS = _words("""
    average avg averaged mean amean gmean hmean geomean median overall total totals sum rank ranking ranks rk
    durchschnitt durchschn mittel mittelwert schnitt gesamt summe rang platz moyenne moy mediane somme totale classement
    media promedio mediana suma soma geral gemiddelde среднее средний итого 平均 平均分 总分 順位
    """)
#: the same, and names that a system may have, too
_FUSED = _words("macro micro aggregate aggregated agg composite combined grand borda elo winrate ensemble")
#: columns of spread, time, size, count, version, name and change, anywhere in a name
_OTHERS = _words("""
    std sd stdev stddev deviation variance var stderr sem error errors margin ci confidence interval iqr spread
    pvalue pval significance significant sig reject corrected tstat cohen
    time times seconds secs sec ms latency qps throughput speed hours minutes duration runtime elapsed mrt flops gflops
    tflops energy co kwh watt watts price cost dollars usd year date created updated
    size parameters params param memory mem vram ram gpu gpus gb mb gib mib dimension dimensions dim dims layers tokens
    token context bytes bits disk vocab vocabulary
    count counts num number samples instances support votes likes downloads submissions appearances battles missing
    seed seeds epoch epochs fold trial iteration iterations
    version ver revision rev commit sha hash release id ids uid uuid idx index
    delta diff difference improvement change vs versus
    """)
#: no task where it is the whole name
_WHOLE = _words("""
    all n k s p t z id no nr v # δ ± σ µ μ ∑ ø № % gain loss lift pos position row order alpha beta gamma lambda lr
    batch step steps dev ndev type score scores final general global queries topics docs documents runs date unnamed se
    result results
    """)
#: no task beside a column that is called so without it: `QA low` beside `QA`; the longest first
_BESIDE = tuple(
    sorted(
        _words("""
        std sd se stdev stddev stderr var ci err n p t z low high lower upper min max lo hi l u lb ub rank pos time size
        count seed id delta diff gain change drop lou unjudged predicted abstains filled corrected better worse wins
        losses ties old prev previous baseline x y rel abs median mean avg pvalue reject
        """),
        key=len,
        reverse=True,
    )
)
#: anywhere in a name: signs of spread and change, means in scripts without spaces, a p-value
_WITHIN = re.compile(
    r"[±∆∑⌀№]|^[#Δ]|[\s_(]Δ\)?$|\s[+-]$|\+/-|(?:^|[\s_(])[Øσμµ](?:$|[\s_)])|平均|均分|总分|總分|綜合|综合|総合|順位|排名|标准差|"
    r"標準偏差|win rate|(?:^|[\W_])p[\s_-]?val",
    re.IGNORECASE,
)
#: whole names of columns of rows' numbers, and of shares of what a model has seen
_WHOLE_NAMES = {"", "unnamed: 0", "zero-shot", "zero shot"}
#: `QAstd` is of QA and std, `NFCorpus` of NF and Corpus
_WORD, _CAMEL = re.compile(r"[^\W\d_]+"), (r"[A-Z]?[a-z]+|[A-Z]+", r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LONGEST = 200

#: what measures are called, without their cutoffs, by trec_eval, ir_measures, gdeval, ndeval, MTEB and people
_MEASURES = _words("""
    ap map map_cut gm_map gm_ap p precision r recall rr mrr recip_rank rprec r-prec ndcg ndcg_cut dcg idcg bpref
    gm_bpref rbp success err infap set_p setp set_recall setr set_map setap set_f setf judged unjudged iprec
    iprec_at_recall 11pt_avg numret numq numrel numrelret num_ret num_q num_rel num_rel_ret alpha-ndcg alpha_ndcg
    alpha-dcg alpha_dcg err-ia err_ia nerr-ia nerr_ia nrbp nnrbp map-ia ap-ia ap_ia p-ia p_ia strec compat accuracy acc
    inst insq bpm sdcg hit hits hitrate hit_rate hit-rate f1 auc nauc main_score utility infndcg bing
    """)
_CUTOFF = re.compile(r"(?:@|_at_|[_.])\d+(?:\.\d+)?$")
_AT_CUTOFF = re.compile(r"[\w-]+@\d+")
_PARAMETERS = re.compile(r"[A-Za-z]\w*\([^\s()]*[=@][^()]*(?:\([^()]*\)[^()]*)?\)(?:@\d+)?")
#: a letter alone is a measure only where all columns are
_LETTER = {"p", "r"}

#: a score is no larger, so that sums and squares of scores are numbers
LARGEST = 1e100
#: how many names an error proposes
_PROPOSED = 12
#: fractions stay within the first, percentages within the second
_SCALES = (1.0, 100.0)
#: whole numbers are no scores beside columns so much of which has decimals
_MOSTLY = 0.9
#: a column that would be the mean of others by chance in so few of tables like this one is taken for a mean
_BY_CHANCE = 0.01
#: systems times tasks squared up to which the means of neighbours are looked at, too
_LOOKED_AT = 50_000_000
#: decimals of a float that are looked at
_DIGITS = 13
#: a cell of a fraction is told among percentages that are all beyond this
_PER_CENT = 5.0


@dataclass(frozen=True)
class Selection:
    """What the user says of tasks: the only ones, None for all; and those to leave out."""

    tasks: tuple[str, ...] | None = None
    ignored: tuple[str, ...] = ()

    def places(self, names: Sequence[str]) -> list[int]:
        """Return the places of the tasks among names, in the order that the user gives."""
        counts = Counter(names)
        for argument, given in (("ignore", self.ignored), ("tasks", self.tasks)):
            strange = [name for name in given or () if name not in counts]
            if strange:
                near = did_you_mean(strange[0], list(counts)[:1000])
                raise InputError(f"{examples(strange)} not among {examples(counts, 12)}.{near}", argument=argument)
            if given is not None and (len(set(given)) < len(given) or (argument == "tasks" and not given)):
                raise InputError(f"give names, each once, got {examples(given, 12)}.", argument=argument)
        if self.tasks is None:
            return [place for place, name in enumerate(names) if name not in set(self.ignored)]
        if both := [name for name in self.tasks if name in set(self.ignored)]:
            raise InputError(f"{examples(both)} chosen and left out at once.", argument="ignore")
        wanted = set(self.tasks)
        check_names([name for name in names if name in wanted], "task", "column")
        place_of = {name: place for place, name in enumerate(names)}
        return [place_of[name] for name in self.tasks]


def check_names(names: Sequence[str], noun: str, where: str) -> None:
    """Raise where a name is empty, or there twice."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if "" in names or twice:
        what = f"a {where} has no name of a {noun}" if "" in names else f"several {where}s are called {examples(twice)}"
        raise InputError(f"{what}. Give each {noun} one {where} and a name of its own.", argument="path")


def _folded(text: str) -> str:
    """Return a text in lower case, without marks on its letters."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


def is_mean(name: str, *, fused: bool = True) -> bool:
    """Return whether a name, as a whole, is that of a mean, a sum or a rank; `fused` or one that a system may have."""
    folded = _folded(name[:_LONGEST].strip(" .:*()_-"))
    return folded in _MEANS or (fused and folded in _FUSED)


def is_measure_name(name: str) -> bool:
    """Return whether a column is called like a measure: ``nDCG@10``, ``map``, ``err@20``, ``ndcg_at_10``."""
    if len(name) > _LONGEST or name != name.strip() or " " in name:
        return False
    base = name.lower()
    while (cut := _CUTOFF.sub("", base)) != base:
        base = cut
    return base in _MEASURES or _PARAMETERS.fullmatch(name) is not None or _AT_CUTOFF.fullmatch(name) is not None


def beside_measures(names: Sequence[str]) -> list[str]:
    """Return the columns of pt.Experiment, and ours, that stand beside a measure: ``AP p-value`` beside ``AP``."""
    measures = {name for name in names if is_measure_name(name)}
    return [name for name in names if " " in name and name.partition(" ")[0] in measures]


def doubtful_names(names: Sequence[str]) -> list[str]:
    """Return the names that may be of no task."""
    known, alone, beside = {name.casefold() for name in names}, len(names) == 1, set(beside_measures(names))
    of_measures = {name for name in names if not alone and is_measure_name(name) and name.lower() not in _LETTER}
    return [
        name
        for name in names
        if name in beside or name in of_measures or _is_doubtful(name[:_LONGEST], alone) or _is_beside(name, known)
    ]


def _is_doubtful(name: str, alone: bool) -> bool:
    low = name.lower().strip()
    words = {
        _folded(part)
        for word in _WORD.findall(name)
        for part in (word, *(part for camel in _CAMEL if word.isascii() for part in re.findall(camel, word)))
    }
    # the only column may be called `score`
    whole = low.strip(" .:*()[]_") in _WHOLE and not (alone and low.startswith("score"))
    return whole or low in _WHOLE_NAMES or bool(_WITHIN.search(name) or words & (_MEANS | _FUSED | _OTHERS))


def _is_beside(name: str, known: set[str]) -> bool:
    """Return whether a name is that of another column, and what stands beside it."""
    low = name[:_LONGEST].casefold()
    # what pandas calls the second of two columns of one name
    if low[-2:-1] == "." and low[-1].isdigit() and low[:-2] in known:
        return True
    bare = low.rstrip(" )]%+-")
    end = low[len(bare) :]
    if end and bare and bare.rstrip(" _-.:/([") in known and end.strip(" )]") in "%+-":
        # `C++` is a language, `C +` counts topics
        return end.startswith((" ", "%"))
    for end in _BESIDE if bare.endswith(_BESIDE) else ():
        rest = bare.removesuffix(end)
        base = rest.rstrip(" _-.:/([")
        if bare.endswith(end) and base and base in known and (base != rest or len(end) > 1):
            return True
    return False


@dataclass(frozen=True)
class ScoreMatrix:
    """Scores of systems on tasks by one measure, (systems, tasks), NaN where one is missing, and their decimals."""

    systems: Sequence[str]
    tasks: Sequence[str]
    values: NDArray[np.float64]
    decimals: NDArray[np.int64]

    def check(self, *, picked: bool, where: str) -> None:
        """Raise where values say that a task or system is of another scale, or no task; warn where tasks were picked.

        `where` is what a task is in the file: a column, a line.
        """
        if (np.abs(self.values[~np.isnan(self.values)]) > LARGEST).any():
            return  # told elsewhere
        odd = [] if picked else sorted(self._whole() | self._means())
        if odd:
            _ask(self.tasks, [self.tasks[t] for t in odd], where, "by their values: whole numbers, means of others")
        for axis, units, noun in ((0, self.tasks, where), (1, self.systems, "system")):
            scale = self._scales(axis)
            kinds = sorted(set(scale.tolist()) - {-1})
            if len(kinds) > 1:
                # of two, the fewer; of equally many, those of the larger scale
                fewest = min(kinds, key=lambda kind: (int((scale == kind).sum()), -kind))
                names = [units[at] for at in np.flatnonzero(scale == fewest).tolist()]
                self._tell_scale(names, noun, kinds, fewest, picked=picked, tasks=axis == 0)
        self._tell_cells()

    def _tell_scale(
        self, names: list[str], noun: str, kinds: list[int], fewest: int, *, picked: bool, tasks: bool
    ) -> None:
        scale = ["within 1", "beyond 1", "beyond 100"]
        others = scale[min(kind for kind in kinds if kind != fewest)]
        said = f"the scores of {noun} {examples(names, 12)} are {scale[fewest]}, and those of others {others}"
        if picked:
            warn(f"{said}; all weigh alike in a mean. Write all on one scale.")
            return
        rest: list[str] = [name for name in self.tasks if name not in set(names)] if tasks else list(self.tasks)
        raise InputError(
            f"{said}: percentages beside fractions, or no scores of a task. Write all on one scale; leave out what "
            f"is no score by {proposed('ignore', names if tasks else [])}; or, if all are right, name the tasks by "
            f"{proposed('tasks', [] if tasks else rest)}.",
            argument="path",
        )

    def _scales(self, axis: int) -> NDArray[np.int64]:
        """Return of each task or system 0 for fractions, 1 beyond 1, of tasks 2 beyond 100, -1 for neither."""
        sizes = np.where(np.isnan(self.values), 0.0, np.abs(self.values))
        found = np.minimum(np.searchsorted(_SCALES, sizes.max(axis=axis, initial=0.0)), 1 if axis else 2)
        # 0 and 1 are on any scale
        return np.where((found == 0) & ~(sizes % 1 != 0).any(axis=axis), -1, found)

    def _tell_cells(self) -> None:
        """Warn of tasks in which some fractions stand among percentages."""
        values = np.abs(self.values)
        small = (values <= 1) & (values % 1 != 0)
        if min(values.shape) < 2 or not small.any() or small.sum() > values.size / 2:
            return
        high = np.where(np.isnan(values) | small, np.inf, values)
        per_cent = [(lowest > _PER_CENT) & np.isfinite(lowest) for lowest in (high.min(axis=0), high.min(axis=1))]
        few = 2 * small.sum(axis=0) <= (~np.isnan(values)).sum(axis=0)
        odd = np.argwhere(small & few & per_cent[0] & per_cent[1][:, None])
        if len(odd):
            s, t = odd[0]
            warn(
                f"{count(len(odd), 'score')} within 1 among percentages, the first {self.values[s, t]:g} of system "
                f"{self.systems[s]!r}, task {self.tasks[t]!r}. Write all on one scale if it is a fraction."
            )

    def _whole(self) -> set[int]:
        """Return the columns of whole numbers beyond 1 beside columns of decimals."""
        there, written = ~np.isnan(self.values), self.decimals > 0
        n = there.sum(axis=0)
        whole = ~(written & there).any(axis=0) & (np.where(there, self.values, 0.0).max(axis=0, initial=0.0) > 1)
        others, with_decimals = int(n[~whole].sum()), int((written & there)[:, ~whole].sum())
        return set(np.flatnonzero(whole).tolist()) if others and with_decimals >= _MOSTLY * others else set()

    def _means(self) -> set[int]:
        """Return the columns that are the mean or the sum of all others, or the mean of those next to them."""
        found: set[int] = set()
        kept = np.arange(len(self.tasks))
        while len(kept) > 2:
            more = self._means_among(kept)
            if not more or len(more) > len(kept) / 2:
                break
            found |= more
            kept = np.array([t for t in kept if t not in found])
        return found

    def _means_among(self, kept: NDArray[np.int64]) -> set[int]:
        values, written = self.values[:, kept], self.decimals[:, kept]
        rows = ~np.isnan(values).any(axis=1)
        values, written = values[rows], np.clip(written[rows], 0, _DIGITS)
        n = len(kept)
        if not len(values):
            return set()
        # a mean is rounded, and so were the scores that it is of
        near = 0.5 * (10.0**-written + 10.0 ** -written.max(axis=1, keepdims=True))
        near += 10.0**-_DIGITS * n * np.abs(values).max(axis=1, keepdims=True)
        spread = np.ptp(values, axis=1)[:, None]
        with np.errstate(divide="ignore"):
            chance = np.log10(np.minimum(np.where(spread > 0, 2 * near / spread, 1.0), 1.0))
        neighbours = n * n * len(values) <= _LOOKED_AT
        likely = np.log10(_BY_CHANCE / (2 * n + (n * n if neighbours else 0)))
        if chance.sum(axis=0).min() > likely:
            return set()

        def equal(mean: NDArray[np.float64], square: NDArray[np.float64], at: Any, times: int = 1) -> NDArray[np.bool_]:
            # systems of which all scores are equal say nothing
            apart = square - mean**2 > (4 * near[:, at]) ** 2
            fits = (np.abs(mean * times - values[:, at]) <= near[:, at] * times).all(axis=0)
            return fits & ((apart * chance[:, at]).sum(axis=0) <= likely)

        every = slice(None)
        mean, square = ((x.sum(axis=1, keepdims=True) - x) / (n - 1) for x in (values, values**2))
        found = set(np.flatnonzero(equal(mean, square, every) | equal(mean, square, every, n - 1)).tolist())
        if neighbours:
            until = [np.cumsum(np.pad(x, ((0, 0), (1, 0))), axis=1) for x in (values, values**2)]
            for t in range(n):
                # the columns from each on up to this one, and after this one up to each, two at least
                before = [(x[:, [t]] - x[:, : max(t - 1, 0)]) / np.arange(t, 1, -1) for x in until]
                after = [(x[:, t + 3 :] - x[:, [t + 1]]) / np.arange(2, n - t) for x in until]
                if equal(before[0], before[1], [t]).any() or equal(after[0], after[1], [t]).any():
                    found.add(t)
        return {int(kept[t]) for t in found}


def check_task_names(names: Sequence[str], where: str, empty: Iterable[str] = (), like: str = "") -> None:
    """Raise where columns may be no tasks by their names, or have no number."""
    without = list(empty)
    odd = [name for name in doubtful_names(names) if name not in set(without)]
    if odd or without:
        why = [f"by {'its name' if len(odd) == 1 else 'their names'}"] if odd else []
        why += [f"{examples(without, 12)} without a number{like}"] if without else []
        _ask(names, [*odd, *without], where, ", and ".join(why))


def proposed(argument: str, names: list[str]) -> str:
    """Return an argument with the names to give it, without them where there are none or many."""
    return f"{argument}={names!r}" if 0 < len(names) <= _PROPOSED else f"{argument}="


def _ask(names: Sequence[str], odd: list[str], where: str, why: str) -> None:
    rest = [name for name in names if name not in set(odd)]
    raise InputError(
        f"the {where}s {examples(odd, 12)} may be no scores of a task, {why}, and would count as such. Give "
        f"{proposed('tasks', rest)} for the {where}s that are scores of a task, or {proposed('ignore', odd)} for those "
        "to leave out.",
        argument="path",
    )


#: which revision stands for a model
REVISIONS = ("most", "each")
#: whose scores are read: without those of authors, with them, or these alone
EXTERNAL = "external"
#: the split of a task where it is not ``test``
SPLITS = {"MSMARCO": "dev"}
#: the measure of what is read where it is not named
MAIN = "main_score"
#: what stands beside the results of a revision
_NO_RESULT = ("model_meta.json",)
#: how the name of a result ends behind ``.json``
_PACKED = ("", ".gz", ".bz2", ".xz", ".zst", ".lz4")
_COLUMNS = ("model", "revision", "qid", "value", "version", "place", "subsets")


@dataclass(frozen=True)
class ResultChoice:
    """Which of the scores in a folder of results are read."""

    score: str = MAIN
    split: str | Mapping[str, str] | None = None
    revisions: str = "most"
    external: str = "no"
    tasks: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()

    @classmethod
    def of(cls, *, score: Any, split: Any, revisions: Any, external: Any, tasks: Any, ignore: Any) -> ResultChoice:
        """Check what a user gave."""
        if not isinstance(score, str) or not score.strip():
            raise InputError(f"score must be a key, such as {MAIN!r}, got {shown(score)}.", argument="score")
        if not (split is None or isinstance(split, str) or (isinstance(split, Mapping) and split)):
            raise InputError(f"split must be a name, or a dict of task -> split, got {shown(split)}.", argument="split")
        choice("revisions", revisions, REVISIONS)
        choice("external", external, ("no", "yes", "only"))
        chosen = None if tasks is None else names("tasks", tasks)
        ignored = () if ignore is None else names("ignore", ignore)
        if both := [task for task in chosen or () if task in ignored]:
            raise InputError(f"ignore and tasks both name {examples(both)}. Take it out of one.", argument="ignore")
        return cls(score, split, revisions, external, chosen, ignored)

    def split_of(self, task: str) -> str:
        """Return the split of a task."""
        default = SPLITS.get(task, "test")
        return self.split.get(task, default) if isinstance(self.split, Mapping) else self.split or default

    def takes(self, revision: str) -> bool:
        """Return whether scores of a revision are read."""
        return self.external != "no" if revision == EXTERNAL else self.external != "only"


@dataclass(frozen=True)
class TaskResults:
    """What was read of a folder: scores, models and what was left out."""

    rows: pd.DataFrame  # name qid value place
    runs: pd.DataFrame  # name team model revision
    settings: dict[str, str]


def is_results_folder(path: Any) -> bool:
    """Return whether a path is that of results as MTEB keeps them, ``MODEL/REVISION/TASK.json``."""
    place = user_path(path) if isinstance(path, str | Path) and str(path) and "\0" not in str(path) else None
    return place is not None and place.is_dir() and next(_files(place), None) is not None


def _files(folder: Path) -> Iterator[tuple[str, str, str, Path]]:
    """Yield model, revision, task and file of each result."""
    for model in _below(folder):
        for revision in _below(model) if model.is_dir() else ():
            for file in _below(revision) if revision.is_dir() else ():
                task, json_ending, packed = file.name.rpartition(".json")
                if json_ending and packed in _PACKED and file.name not in _NO_RESULT:
                    yield model.name.replace("__", "/"), revision.name, task, file


def _below(folder: Path) -> list[Path]:
    return sorted(place for place in folder.iterdir() if not place.name.startswith("."))


def read_results(folder: Path, chosen: ResultChoice) -> TaskResults:
    """Read the scores of a folder of results; what has none is told in a warning."""
    found, lacking, faults = list[tuple[Any, ...]](), dict[str, list[str]](), list[InputError]()
    external, known = set[str](), set[str]()
    for model, revision, task, file in _files(folder):
        known.add(task)
        if task in chosen.ignore or (chosen.tasks is not None and task not in chosen.tasks):
            continue
        if not chosen.takes(revision):
            external |= {model} if revision == EXTERNAL else set()
            continue
        place = f"{model.replace('/', '__')}/{revision}/{file.name}"
        try:
            value, version, subsets = _score(file, task, chosen)
        except InputError as error:
            faults.append(InputError(error.text, argument="path", place=place))
        else:
            if isinstance(value, str):
                lacking.setdefault(value, []).append(place)
            else:
                found.append((model, revision, task, value, version, place, subsets))
    if faults:
        raise InputError.of_several(faults, len(found) + len(faults), "results")
    _check_tasks(chosen, known)
    rows = pd.DataFrame(found, columns=[*_COLUMNS])
    for place in rows.loc[rows.duplicated(["model", "revision", "qid"]), "place"].head(1):
        problem = "a second file of this task and revision. Keep one."
        raise InputError(problem, argument="path", place=place)
    for task, mine in rows.groupby("qid", sort=False)["subsets"]:
        # a mean over other subsets is another score; of sets that as many results have, the larger counts
        usual = max(mine.value_counts().items(), key=lambda item: (item[1], len(item[0]), item[0]))[0]
        other = rows.loc[mine.index[mine != usual], "place"].tolist()
        if other:
            lacking[f"{task} with other subsets than the {len(usual):,} of most results"] = other
    for what, places in lacking.items():
        warn(f"{count(len(places), 'result')} left out: {what}, such as {places[0]}.")
    rows = rows[~rows["place"].isin([place for places in lacking.values() for place in places])]
    if rows.empty:
        raise InputError("no result has a score that was asked for. Give other tasks, split= or external=.")
    _check_scale(rows, picked=chosen.tasks is not None)
    several = rows.groupby("model")["revision"].nunique()
    several = several[several > 1]
    kept = rows if chosen.revisions == "each" else _one_revision(rows)
    runs = kept[["model", "revision"]].drop_duplicates(ignore_index=True)
    runs["name"] = runs["model"]
    if chosen.revisions == "each":
        runs["name"] += "@" + runs["revision"].str[:7].where(runs["revision"] != EXTERNAL, EXTERNAL)
    again = runs["name"].duplicated(keep=False)
    runs.loc[again, "name"] = runs["model"] + "@" + runs["revision"]
    runs["team"] = runs["model"].str.partition("/")[0]
    kept = kept.merge(runs, on=["model", "revision"])[["name", "qid", "value", "place"]]
    return TaskResults(kept, runs[["name", "team", "model", "revision"]], _settings(chosen, several, external))


def _settings(chosen: ResultChoice, several: pd.Series, external: set[str]) -> dict[str, str]:
    whose = {
        "no": f"none that the authors reported ({count(len(external), 'model')} have such)",
        "yes": "those that the authors reported, as a revision, among them",
        "only": "those that the authors reported alone",
    }[chosen.external]
    which = "that with the most tasks, of equals the newest, stands for a model"
    if chosen.revisions == "each":
        which = "each is a system"
    return {
        "whose scores": whose,
        "revisions": f"{which} ({count(len(several), 'model')} with several"
        + (f": {examples(several.index)}" if len(several) else "")
        + ")",
        "score": f"{chosen.score!r}, split {chosen.split or SPLITS | {'other tasks': 'test'}}, mean over subsets",
    }


def _one_revision(rows: pd.DataFrame) -> pd.DataFrame:
    """Return of each model the rows of one revision: that with the most tasks, of equals the newest version's."""
    each = rows.groupby(["model", "revision"]).agg(n=("qid", "size"), version=("version", "max")).reset_index()
    each = each.sort_values(["model", "n", "version", "revision"]).drop_duplicates("model", keep="last")
    return rows.merge(each[["model", "revision"]], on=["model", "revision"])


def _check_tasks(chosen: ResultChoice, known: set[str]) -> None:
    for argument, given in (("tasks", chosen.tasks or ()), ("ignore", chosen.ignore)):
        for task in given:
            if task not in known:
                near = did_you_mean(task, known)
                raise InputError(
                    f"{argument} names {shown(task)}, of which there is no result.{near}", argument=argument
                )
    if isinstance(chosen.split, Mapping) and (odd := [task for task in chosen.split if task not in known]):
        raise InputError(f"split names {examples(odd)}, of which there is no result.", argument="split")


def _check_scale(rows: pd.DataFrame, *, picked: bool) -> None:
    """Raise where some scores of a task are per cent beside fractions, or all of a task, if it is not `picked`."""
    beyond = rows["value"].abs() > 1
    mixed = rows.loc[beyond & rows["qid"].isin(rows.loc[~beyond & (rows["value"] != 0), "qid"])]
    if len(mixed):
        row = mixed.iloc[0]
        raise InputError(
            f"the score {row['value']:g} is beyond 1, and other scores of {row['qid']} are within it "
            f"({count(len(mixed), 'such score')}): per cent beside fractions? Write all on one scale.",
            argument="path",
            place=row["place"],
        )
    large = rows.loc[beyond, "qid"].unique().tolist()
    if large and not beyond.all():
        problem = f"the scores of {examples(large)} are beyond 1, and those of other tasks within it"
        if not picked:
            raise InputError(
                f"{problem}: per cent beside fractions? Write all on one scale, leave tasks out by ignore=, or name "
                "those that count by tasks= if all are right.",
                argument="path",
                place=rows.loc[beyond, "place"].iloc[0],
            )
        warn(f"{problem}; all weigh alike in a mean.")


def _score(file: Path, task: str, chosen: ResultChoice) -> tuple[float | str, tuple[int, ...], tuple[str, ...]]:
    """Return the score in a file, or in words why it has none, the version of MTEB that wrote it, and the subsets."""
    try:
        read = json.loads(read_bytes(file), object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON ({error}). Is the file cut short?") from error
    except UnreadableError as error:
        raise InputError(f"{error}.") from error
    if not isinstance(read, dict):
        raise InputError("no result of a task: an object with 'task_name' and 'scores'.")
    version = tuple(int(part) for part in str(read.get("mteb_version")).split(".") if part.isdecimal())
    if not isinstance(read.get("scores"), dict):
        if "mteb_dataset_name" in read:
            return "written by MTEB before 1.11, without 'scores'", version, ()
        raise InputError("no key 'scores'.")
    if read.get("task_name") not in (None, task):
        raise InputError(f"it has the result of {shown(read['task_name'])}, and not of {task!r}. Rename the file.")
    split = chosen.split_of(task)
    parts = read["scores"].get(split)
    if parts is None:
        return f"{task} without the split {split!r}", version, ()
    if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
        raise InputError(f"scores.{split} must be a list of objects, got {shown(parts)}.")
    subsets = [str(part.get("hf_subset", "default")) for part in parts]
    if twice := [subset for subset, n in Counter(subsets).items() if n > 1]:
        raise InputError(f"scores.{split} has the subset {examples(twice)} more than once.")
    values = [_number(part, f"scores.{split}[{at}].{chosen.score}", chosen.score) for at, part in enumerate(parts)]
    return sum(values) / len(values), version, tuple(sorted(subsets))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; a key that it has twice is a fault."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = [key for key, n in Counter(key for key, _ in pairs).items() if n > 1]
        raise ValueError(f"the key {examples(twice)} stands twice in one object")
    return found


def _number(part: Mapping[str, Any], key: str, score: str) -> float:
    value = part.get(score)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise InputError(f"{key} must be a number, got {'nothing' if score not in part else shown(value)}.")
    return float(value)
