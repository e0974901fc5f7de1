"""Which columns of a table are scores of a task: what their names and values say, and what the user says."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count, did_you_mean, examples
from pt_reuse.errors import InputError, warn

#: what a mean over tasks, their sum or the rank by it is called, in the languages of many leaderboards
_MEANS = """
    average avg averaged mean amean gmean hmean geomean median overall total totals sum
    rank ranking ranks rk
    durchschnitt durchschnittlich durchschn mittel mittelwert mittelw schnitt gesamt gesamtwert gesamtschnitt summe
    rang platz
    moyenne moy mediane somme totale classement media promedio mediana suma total rango puesto posicion
    clasificacion complessivo complessiva somma classifica posizione soma geral posicao classificacao mitjana
    gemiddelde gemiddeld mediaan totaal som plaats medel medelvarde genomsnitt gennemsnit gjennomsnitt snitt summa
    totalt keskiarvo keskmine mediaani srednia suma prumer prumerna priemer atlag medie ortalama toplam prosjek prosek
    povprecje vidurkis videjais medaltal rerata purata wastani
    среднее средний средняя среднии середнє середня средно просечно итого всего сумма ранг место медиана
    μεσος μεση συνολο متوسط المتوسط معدل المعدل المجموع ממוצע میانگین औसत গড় சராசரி
"""
#: the same, and names that a system may have, too
_FUSED = "macro micro aggregate aggregated agg composite combined grand borda elo winrate geometric harmonic ensemble"
#: those in scripts without spaces, and names of several words: anywhere in a name
_MEANS_WITHIN = """
    平均|均值|均分|総合|总分|總分|总体|總體|综合|綜合|合計|合计|总计|總計|順位|排名|名次|中央値|中位数|中位數|평균|전체|합계|총점|순위|중앙값|เฉลี่ย|คะแนนรวม|
    trung binh|batez beste|rata-rata|rata rata|win rate
"""
#: columns of spread, time, size, count, version, name and change, anywhere in a name
_OTHERS = """
    std sd stdev stddev deviation variance var stderr sem error errors margin ci confidence interval iqr spread
    pvalue pval significance significant sig reject corrected tstat cohen
    time times seconds secs sec ms latency qps throughput speed hours minutes duration runtime elapsed mrt flops gflops
    tflops energy co kwh watt watts price cost dollars usd year date created updated
    size parameters params param memory mem vram ram gpu gpus gb mb gib mib dimension dimensions dim dims layers tokens
    token context bytes bits disk vocab vocabulary
    count counts num number samples instances support votes likes downloads submissions appearances battles missing
    seed seeds epoch epochs fold trial iteration iterations
    version ver revision rev commit sha hash release id ids uid uuid idx index
    delta diff difference improvement change
    abweichung standardabweichung streuung varianz anzahl dauer zeit grosse groesse laufzeit speicher
    ecart variance temps duree taille nombre desviacion tiempo tamano numero desvio tempo tamanho dimensione deviazione
    afwijking tijd grootte aantal avvikelse antal tid storlek отклонение время размер число количество
    varians varianza variansa variancia keskihajonta szoras odchylenie odchylka dagilim дисперсия погрешность ошибка ско
    fehler erreur errore erro fout konfidenz intervall intervalle intervallo intervalo confiance confianza kesto czas
    latenz latence latencia latenza vitesse geschwindigkeit velocidad velocita velocidade скорость
    kosten preis cout prix costo coste custo prezzo precio preco цена стоимость energie energia kj
    jahr annee ano anno datum fecha versus vs
"""
_OTHERS_WITHIN = (
    "標準偏差|标准差|標準差|方差|分散|偏差|误差|誤差|耗时|耗時|価格|价格|成本|速度|延迟|"
    "時間|时间|大小|数量|數量|参数|표준편차|시간|크기|파라미터"
)
#: no task where it is the whole name
_WHOLE = """
    all n k s p t z id no nr v # Δ ∆ δ ± σ µ μ ∑ Σ Ø ⌀ № % gain loss lift pos position row order alpha beta gamma lambda
    lr batch step steps dev ndev type score scores final general global queries topics docs documents runs date unnamed
    se result results ergebnis punkte punktzahl resultat resultado risultato puntuación puntuacion puntaje punteggio
    pontuação wynik балл баллы оценка 得分 分数 スコア 점수 均
"""
#: no task beside a column that is called so without it: `QA low` beside `QA`
_BESIDE = """
    std sd se stdev stddev stderr var ci err n p t z low high lower upper min max lo hi l u lb ub rank pos time size
    count seed id delta diff gain change drop lou unjudged predicted abstains filled corrected better worse wins losses
    ties old prev previous baseline x y rel abs median mean avg pvalue reject
"""
_SYMBOLS = re.compile(r"[±∆∑⌀№]|^[#Δ]|[\s_(]Δ\)?$|\s[+-]$|\+/-|(?:^|[\s_(])[Øσμµ](?:$|[\s_)])")
#: whole names of columns of rows' numbers, and of shares of what a model has seen
_WHOLE_NAMES = {"", "unnamed: 0", "zero-shot", "zero shot"}
#: letters that do not fall apart into a letter and its mark
_LETTERS = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae"})
_WORD = re.compile(r"[^\W\d_]+")
#: `QAstd` is of QA and std, `NFCorpus` of NF and Corpus
_CAMEL = (re.compile(r"[A-Z]?[a-z]+|[A-Z]+"), re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"))
_LONGEST = 200

#: what measures are called, without their cutoffs, by trec_eval, ir_measures, gdeval, ndeval, MTEB and people
_MEASURE_WORDS = """
    ap map map_cut gm_map gm_ap p precision r recall rr mrr recip_rank rprec r-prec ndcg ndcg_cut dcg idcg bpref
    gm_bpref rbp success err infap set_p setp set_recall setr set_map setap set_f setf judged unjudged iprec
    iprec_at_recall 11pt_avg numret numq numrel numrelret num_ret num_q num_rel num_rel_ret alpha-ndcg alpha_ndcg
    alpha-dcg alpha_dcg err-ia err_ia nerr-ia nerr_ia nrbp nnrbp map-ia ap-ia ap_ia p-ia p_ia strec compat accuracy acc
    inst insq bpm sdcg hit hits hitrate hit_rate hit-rate f1 auc nauc main_score utility infndcg bing
"""
_MEASURES = set(_MEASURE_WORDS.split())
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
        counts, ignored = Counter(names), set(self.ignored)
        for argument, given in (("ignore", self.ignored), ("tasks", self.tasks)):
            if given is None:
                continue
            strange = [name for name in given if name not in counts]
            if strange or len(set(given)) < len(given) or (argument == "tasks" and not given):
                near = did_you_mean(strange[0], list(counts)[:1000]) if strange else ""
                raise InputError(
                    f"{examples(strange)} not among {examples(counts, 12)}.{near}"
                    if strange
                    else f"give names, each once, got {examples(given, 12)}.",
                    argument=argument,
                )
        both = [name for name in self.tasks or () if name in ignored]
        if both:
            raise InputError(f"{examples(both)} chosen and left out at once.", argument="ignore")
        if self.tasks is None:
            return [place for place, name in enumerate(names) if name not in ignored]
        wanted = set(self.tasks)
        check_names([name for name in names if name in wanted], "task", "column")
        place_of = {name: place for place, name in enumerate(names)}
        return [place_of[name] for name in self.tasks]


def check_names(names: Sequence[str], noun: str, where: str) -> None:
    """Raise where a name is empty, or there twice."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if "" in twice or "" in names or twice:
        what = f"a {where} has no name of a {noun}" if "" in names else f"several {where}s are called {examples(twice)}"
        raise InputError(f"{what}. Give each {noun} one {where} and a name of its own.", argument="path")


def _folded(text: str) -> str:
    """Return a text in lower case, without marks on its letters."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return "".join(c for c in apart if not unicodedata.combining(c))


def _words(text: str) -> set[str]:
    return set(map(_folded, text.split()))


_MEAN_WORDS, _FUSED_WORDS, _OTHER_WORDS, _BESIDE_WORDS = map(_words, (_MEANS, _FUSED, _OTHERS, _BESIDE))
_ANYWHERE = _MEAN_WORDS | _FUSED_WORDS | _OTHER_WORDS
_WHOLE_WORDS = set(_WHOLE.lower().split())
_P_VALUE = re.compile(r"(?:^|[\W_])p[\s_-]?val")
_WITHIN = re.compile(
    "|".join(re.escape(_folded(part.strip())) for part in f"{_MEANS_WITHIN}|{_OTHERS_WITHIN}".split("|"))
)
_MEAN_WITHIN = tuple(_folded(part.strip()) for part in _MEANS_WITHIN.strip().split("|"))
#: longest first, so that `QAstdev` is not one of `dev`
_ENDS = tuple(sorted(_BESIDE_WORDS, key=len, reverse=True))


def _of_words(name: str) -> set[str]:
    found = set()
    for word in _WORD.findall(name[:_LONGEST]):
        parts = [part for camel in _CAMEL for part in camel.findall(word)] if word.isascii() else []
        found |= {_folded(part) for part in (word, *parts)}
    return found


def is_mean(name: str, *, fused: bool = True) -> bool:
    """Return whether a name, as a whole, is that of a mean, a sum or a rank; `fused` or one that a system may have."""
    folded = _folded(name[:_LONGEST].strip(" .:*()_-"))
    return folded in _MEAN_WORDS or folded in _MEAN_WITHIN or (fused and folded in _FUSED_WORDS)


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
    known = {name.casefold() for name in names}
    alone, beside = len(names) == 1, set(beside_measures(names))
    of_measures = {name for name in names if not alone and is_measure_name(name) and name.lower() not in _LETTER}
    return [
        name
        for name in names
        if name in beside or name in of_measures or _is_doubtful(name, alone) or _is_beside(name, known)
    ]


def _is_doubtful(name: str, alone: bool) -> bool:
    folded, low = _folded(name[:_LONGEST]), name[:_LONGEST].lower().strip()
    # the only column may be called `score`; a letter with a mark is another one
    whole = low.strip(" .:*()[]_") in _WHOLE_WORDS and not (alone and low.startswith("score"))
    return (
        whole
        or low in _WHOLE_NAMES
        or bool(_SYMBOLS.search(name[:_LONGEST]))
        or _WITHIN.search(folded) is not None
        or not _ANYWHERE.isdisjoint(_of_words(name))
        or _P_VALUE.search(folded) is not None
    )


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
    for end in _ENDS if bare.endswith(_ENDS) else ():
        if bare.endswith(end):
            base = bare[: -len(end)].rstrip(" _-.:/([")
            glued = base == bare[: -len(end)]
            if base in known and base and (not glued or len(end) > 1):
                return True
    return False


@dataclass(frozen=True)
class ScoreMatrix:
    """Scores of systems on tasks by one measure, (systems, tasks), NaN where one is missing, and their decimals."""

    systems: Sequence[str]
    tasks: Sequence[str]
    values: NDArray[np.float64]
    decimals: NDArray[np.int64]

    def check(self, *, picked: bool, where: str, whole: bool = True) -> None:
        """Raise where values say that a task or a system is of another scale, or no task; warn where it was picked.

        Args:
            picked: whether the user has chosen the tasks.
            where: what a task is in the file: a column, a line.
            whole: look for columns that are no scores, too.
        """
        if (np.abs(self.values[~np.isnan(self.values)]) > LARGEST).any():
            # which is told elsewhere
            return
        odd = [] if picked or not whole else sorted(self._whole() | self._means())
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
        largest = sizes.max(axis=axis, initial=0.0)
        of_fractions = (sizes % 1 != 0).any(axis=axis)
        found = np.searchsorted(_SCALES, largest).astype(np.int64)
        if axis:
            found = np.minimum(found, 1)
        # 0 and 1 are on any scale
        return np.where((found == 0) & ~of_fractions, -1, found)

    def _tell_cells(self) -> None:
        """Warn of tasks in which some fractions stand among percentages."""
        values = np.abs(self.values)
        small = (values <= 1) & (values % 1 != 0)
        if min(values.shape) < 2 or not small.any() or small.sum() > values.size / 2:
            return
        high = np.where(np.isnan(values) | small, np.inf, values)
        in_task, in_system = high.min(axis=0), high.min(axis=1)
        few = 2 * small.sum(axis=0) <= (~np.isnan(values)).sum(axis=0)
        few &= (in_task > _PER_CENT) & np.isfinite(in_task)
        odd = np.argwhere(small & few & ((in_system > _PER_CENT) & np.isfinite(in_system))[:, None])
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
        others = int(n[~whole].sum())
        with_decimals = int((written & there)[:, ~whole].sum())
        return set(np.flatnonzero(whole).tolist()) if others and with_decimals >= _MOSTLY * others else set()

    def _means(self) -> set[int]:
        """Return the columns that are the mean or the sum of all others, or the mean of those next to them."""
        found: set[int] = set()
        kept = np.arange(len(self.tasks))
        while len(kept) > 2:
            more = self._means_among(kept)
            if not more or len(more) > len(kept) / 2:
                return found
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
        looked_at = 2 * n + (n * n if neighbours else 0)
        likely = np.log10(_BY_CHANCE / looked_at)
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
