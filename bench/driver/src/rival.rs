//! endturn beside the official Rust SDK, in whichever form that is better at a job.

use crate::{
    agents::Kind,
    arguments::Plan,
    jobs::Metric,
    measure::{Results, Score, takes_part},
};

/// What endturn promises, as a ratio to the official SDK at its best.
const PROMISES: &[(&str, f64)] = &[
    ("updates streamed in one turn", 4.0),
    ("empty turn, p50", 0.5),
    ("cancel to answer, p50", 0.5),
    ("10,000 waiting turns, started and cancelled", 0.25),
];

/// A table, or nothing if the official SDK took no part.
pub(crate) fn table(plan: &Plan, results: &Results) -> String {
    let rows: String = PROMISES
        .iter()
        .filter_map(|&(name, limit)| row(plan, results, name, limit))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "\n| endturn beside the official Rust SDK | ratio | spread | target |\n|---|--:|--:|--:|\n{rows}"
    )
}

fn row(plan: &Plan, results: &Results, name: &str, limit: f64) -> Option<String> {
    let (job, metric) = plan.jobs.iter().find_map(|job| {
        let metric = job.metrics.iter().find(|metric| metric.name == name)?;
        Some((job, metric))
    })?;
    let endturn = takes_part(plan, job).find(|one| one.kind == Kind::Endturn)?;
    let rivals = takes_part(plan, job).filter(|one| one.name.starts_with("official"));
    let scores = rivals.filter_map(|rival| {
        let own = results.score(job, metric, rival.name, rival.name)?;
        let beside = results.score(job, metric, endturn.name, rival.name)?;
        Some((own.median, beside))
    });
    let better = |one: &(f64, Score), other: &(f64, Score)| one.0.total_cmp(&other.0);
    let (_, beside) = if metric.unit.more_is_better() {
        scores.max_by(better)
    } else {
        scores.min_by(better)
    }?;
    let (ratio, low, high) = beside.ratio?;
    let (sign, kept) = promise(metric, ratio, limit);
    let mark = if kept { "✓" } else { "✗" };
    Some(format!(
        "| {name} | {ratio:.2} | {low:.2} to {high:.2} | {sign} {limit} {mark} |\n"
    ))
}

fn promise(metric: &Metric, ratio: f64, limit: f64) -> (&'static str, bool) {
    if metric.unit.more_is_better() {
        ("≥", ratio >= limit)
    } else {
        ("≤", ratio <= limit)
    }
}
