//! endturn beside the official Rust SDK, in whichever form that is better at a job.

use crate::{
    agents::Kind,
    arguments::Plan,
    jobs::Metric,
    measure::{Results, Score, Spread, takes_part},
};

/// What is compared, and what endturn promises, as a ratio to the official SDK at its best.
const ROWS: &[(&str, Option<f64>)] = &[
    ("updates streamed in one turn", Some(4.0)),
    ("empty turn, p50", Some(0.5)),
    ("empty turn, p99", None),
    ("cancel to answer, p50", Some(0.5)),
    ("cancel to answer, p99", None),
    ("10,000 waiting turns, started and cancelled", Some(0.25)),
    ("prompt of 1 MiB, p50", None),
];

/// A table, or nothing if the official SDK took no part.
pub(crate) fn table(plan: &Plan, results: &Results) -> String {
    let rows: String = ROWS
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

fn row(plan: &Plan, results: &Results, name: &str, limit: Option<f64>) -> Option<String> {
    let (job, metric) = plan.jobs.iter().find_map(|job| {
        let metric = job.metrics.iter().find(|metric| metric.name == name)?;
        Some((job, metric))
    })?;
    let endturn = takes_part(plan, job).find(|one| one.kind == Kind::Endturn)?;
    let rivals = takes_part(plan, job).filter(|one| one.name.starts_with("official"));
    let scores = rivals.filter_map(|rival| {
        let own = results.score(job, metric, rival.name, rival.name)?;
        let beside = results.score(job, metric, endturn.name, rival.name)?;
        Some((own.figure.median, beside))
    });
    let better = |one: &(f64, Score), other: &(f64, Score)| one.0.total_cmp(&other.0);
    let (_, beside) = if metric.unit.more_is_better() {
        scores.max_by(better)
    } else {
        scores.min_by(better)
    }?;
    let ratio = beside.ratio?;
    let promise = limit.map(|limit| promise(metric, ratio, limit));
    let Spread { median, low, high } = ratio;
    Some(format!(
        "| {name} | {median:.2} | {low:.2} to {high:.2} | {} |\n",
        promise.unwrap_or_default()
    ))
}

fn promise(metric: &Metric, ratio: Spread, limit: f64) -> String {
    let (sign, verdict) = if metric.unit.more_is_better() {
        ("≥", ratio.keeps(|ratio| ratio >= limit))
    } else {
        ("≤", ratio.keeps(|ratio| ratio <= limit))
    };
    format!("{sign} {limit} {}", verdict.mark())
}
