"""The card: what stands on it is what the studies say; what cannot be computed says why; names stay text."""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser

import pytest

import pt_reuse as ptr
from pt_reuse.cards.parts import AT_EQUAL_DEPTH
from pt_reuse.cards.questions import QUESTIONS, Threshold, Verdict
from pt_reuse.collections.dataset import ReuseDataset

EVIL = '</script><img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def field():
    return ptr.demo.simulate_field(seed=7, depth=20)


@pytest.fixture(scope="module")
def card(field):
    return ptr.report(field.runs, field.qrels, ["nDCG@10", "AP"], name="A & B", depth=20, resamples=20)


def row_of(card, part):
    (row,) = card.questions[card.questions["part"].str.startswith(part)].to_dict("records")[:1]
    return row


def test_numbers_are_those_of_the_studies(card, field):
    shallow = field.qrels.restrict(ptr.depth_pool(field.runs, depth=10))
    for judgments, qrels, depth in (("as judged", field.qrels, 20), ("depth-10 pool", shallow, 10)):
        (row,) = card.row[card.row["judgments"] == judgments].to_dict("records")
        lou = ptr.leave_out_uniques(field.runs, qrels, "nDCG@10", depth=depth)
        types = ptr.leave_out_uniques(field.runs, qrels, "nDCG@10", by="type", depth=depth)
        power = ptr.profile.discriminative_power(ptr.score(field.runs, qrels, "nDCG@10"))
        covered = ptr.profile.coverage(field.runs, qrels, "nDCG@10", depths=10, by="type", depth=depth).groups
        own, of_types = lou.summary.iloc[0], types.summary.iloc[0]
        assert row["depth"] == depth
        assert (row["tau_b"], row["loss"], row["drop"]) == (
            own["own_tau_b"], own["largest_loss_pct"], own["alone_max_drop"],
        )  # fmt: skip
        assert (row["type_tau_b"], row["type_loss"]) == (of_types["own_tau_b"], of_types["largest_loss_pct"])
        upper = lou.by_run.sort_values("score").iloc[math.ceil(0.25 * (len(field.runs) - 1)) :]
        assert row["upper_loss"] == -upper["change_pct"].min()
        assert row["type_judged"] == 1 - covered[covered["by"] == "type"]["unjudged_without_own"].max()
        assert row["power"] == power.table["power"][0]
    assert f"{card.row['tau_b'][0]:.3f}" in row_of(card, "teams")["number"]
    assert (card.row["run_answer"][0], card.row["type_answer"][0]) == tuple(
        row_of(card, part)["answer"] for part in ("teams", "types")
    )


def test_questions_are_answered_against_their_thresholds(card):
    assert len(card.questions) == len(QUESTIONS)
    assert set(card.questions["answer"]) <= {verdict.value for verdict in Verdict}
    density = card.results["density"].summary.iloc[-1]
    share = density["above_third"] / density["topics"]
    expected = "yes" if share <= 0.05 else "with care" if share <= 0.25 else "no"
    assert row_of(card, "density")["answer"] == expected
    assert card.row["rel"].tolist() == [1, 1]
    holds = card.results["bounds"].summary.iloc[0]
    share = holds["holds"] / holds["pairs"]
    assert row_of(card, "bounds")["answer"] == ("yes" if share >= 0.95 else "with care" if share >= 0.8 else "no")


def test_the_worse_end_of_an_interval_decides_for_yes_and_the_number_for_no():
    tau = Threshold("tau", 0.9, 0.8, ".2f")
    assert [tau.verdict(value, low).name for value, low in ((0.95, 0.91), (0.95, 0.85), (0.85, 0.7), (0.79, 0.7))] == [
        "YES", "CARE", "CARE", "NO",
    ]  # fmt: skip
    loss = Threshold("loss", 10, 25, ".0f", higher=False)
    assert [loss.verdict(value).name for value in (10, 10.1, 25, 25.1)] == ["YES", "CARE", "CARE", "NO"]


def test_judgments_alone_say_what_they_can(field):
    card = ptr.report(None, field.qrels)
    assert set(card.results) == {"density"}
    assert card.questions["answer"].tolist().count("cannot be said") == len(QUESTIONS) - 1
    assert card.missing["teams"] == "No runs are given."
    assert "Not computed. No runs are given." in card.html


def test_a_field_without_teams_and_types(field):
    frames = {name: field.runs[name].drop(columns="name") for name in field.runs.names}
    card = ptr.report(frames, field.qrels, resamples=0)
    assert row_of(card, "teams")["answer"] == row_of(card, "types")["answer"] == "cannot be said"
    assert card.verdict[0] == "Nothing is known of a new run: no run has a team."
    assert card.results["teams"].settings["by"] == "run"
    assert "No run has a type" in card.flag
    assert '<select id="team"' not in card.html


def test_one_topic_says_little_and_fails_nowhere(field):
    card = ptr.report(field.runs, field.qrels.select(field.qrels.topics[:1]), resamples=10)
    answers = dict(zip(card.questions["part"], card.questions["answer"], strict=True))
    assert {answer for part, answer in answers.items() if part != "pool"} == {"cannot be said"}
    assert "ranks" in card.missing
    assert len(card.html) > 10_000


def test_a_depth_that_nobody_knows_is_not_made_up(field):
    # judged at random: no depth explains it
    card = ptr.report(field.runs, field.all_qrels.sample(0.3, seed=1), resamples=0)
    assert not card.results["pool"].depth
    assert "teams" in card.missing
    assert "teams" + AT_EQUAL_DEPTH in card.results


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.ids, self.linked = set(), [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        named = dict(attrs)
        self.ids += [named["id"]] if "id" in named else []
        self.linked += [named[name] for name in ("src", "href") if name in named]


def test_names_stay_text_and_nothing_is_asked_of_a_network(field):
    names = {name: f"{name}{EVIL}" for name in field.runs.names}
    about = field.runs.run_table
    about = about.assign(name=about["name"].map(names), team=about["team"] + EVIL)
    runs = ptr.RunSet.from_frames({names[name]: field.runs[name] for name in names}, metadata=about)
    page = ptr.report(runs, field.qrels, resamples=0, name=EVIL).html
    found = Tags(page)
    assert "img" not in found.tags
    assert all(link.startswith("#") for link in found.linked)
    assert len(found.ids) == len(set(found.ids))
    data = re.search(r'id="data-runs">(.*?)</script>', page)
    assert json.loads(data[1]) == dict(zip(runs.names, runs.run_table["team"], strict=True))


def test_it_saves_once_unless_told(card, tmp_path, messages):
    file = card.save(tmp_path / "new" / "card.html")
    assert file.read_text(encoding="utf-8") == card.html
    assert len(card.html.encode()) < 5_000_000
    messages.refused(card.save, path=file, argument="path")
    assert card.save(file, overwrite=True) == file
    assert [path.name for path in file.parent.iterdir()] == ["card.html"]


def test_a_collection_by_name_is_not_taken_for_a_file():
    by_name, whole = ptr.report("demo", resamples=0), ReuseDataset("demo")
    given = ptr.report(whole.get_runs(), whole.get_judgments(), resamples=0, name="demo")
    # nor does a page hang on anything but its numbers
    assert by_name.html == given.html
    assert by_name.name == "Demo collection"


def test_the_verdict_says_the_numbers_of_the_studies(card):
    lou, ranks = card.results["teams"].summary.iloc[0], card.results["ranks"].summary().iloc[0]
    of_types = card.results["types"].uniques.summary.iloc[0]
    new_run, new_type, top = card.verdict
    assert f"loses more than {lou['largest_loss_pct']:.1f}% of its nDCG@10" in new_run
    assert f"more than {of_types['largest_loss_pct']:.1f}% of" in new_type
    assert f"{ranks['candidates']:.0f} of 18 runs" in top
    assert all(sentence in card.html.replace("&#x27;", "'") for sentence in card.verdict)
    assert str(card).splitlines()[1:] == card.verdict


def test_judgments_of_relevant_documents_only_answer_nothing_of_what_was_judged(field):
    relevant = field.qrels.to_frame().query("label > 0")
    with pytest.warns(ptr.ReuseWarning, match="relevant documents only"):
        asked = ptr.report(None, relevant, "nDCG@10", resamples=0).questions.set_index("part")
    of_judged = asked.loc[["density", "pool", "bounds", "coverage"]]
    assert set(of_judged["answer"]) == {"cannot be said"}
    assert of_judged["condition"].str.contains("relevant documents only").all()
