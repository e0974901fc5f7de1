"""Which way of judging should a new collection take? Try them all on one whose judgments are known."""

import warnings

import pyterrier as pt
from ir_measures import AP, P

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
runs, judged = demo.get_runs(), demo.get_judgments("complete")
print(f"{runs!r}\n{judged!r}")

# a budget of 10, 25 and 50 % of the depth-20 pool; five seeds; the judgments that each way builds, without each team
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ptr.ReuseWarning)  # at the smallest budgets a topic may have no relevant document
    found = ptr.pools.compare_strategies(
        runs,
        judged,
        ["rank", "rrf", "mtf", "max-mean", "thompson", "hedge", "mtc", "random"],
        budgets=[0.1, 0.25, 0.5],
        measures=[AP, P @ 10],
        depth=20,
        leave_out="team",
        repeats=3,
    )

print(found.report(measure=AP))

print("\nRanks that runs of each type lose on average at 25 %, AP (below 0: they gain):")
groups = found.groups.query("budget == .25 and measure == 'AP' and by == 'type'")
print(groups.pivot_table(index="strategy", columns="group", values="mean_drop", sort=False).round(1).to_string())

print("\nBuilt without each team at 25 %, AP:")
left_out = found.left_out.query("budget == .25 and measure == 'AP'")
print(left_out[["strategy", "own_tau_b", "largest_loss_pct", "field_max_drop"]].round(3).to_string(index=False))
