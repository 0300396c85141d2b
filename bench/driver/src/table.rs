//! Figures as text.

use crate::{
    agents::{Contestant, Kind},
    arguments::Plan,
    jobs::{Job, Metric, Target, Unit},
    measure::{Results, Score, Spread, takes_part},
};

/// One table for each job that these contestants take part in.
pub(crate) fn all(
    plan: &Plan,
    results: &Results,
    shown: impl Fn(&Contestant) -> bool,
    beside: Kind,
) -> String {
    let mut text = String::new();
    for job in &plan.jobs {
        let contestants: Vec<_> = takes_part(plan, job).filter(|one| shown(one)).collect();
        // A job in which nobody stands beside the others compares nothing.
        let Some(base) = contestants.iter().find(|one| one.kind == beside) else {
            continue;
        };
        if contestants.len() < 2 {
            continue;
        }
        for metric in job.metrics {
            text += &heading(metric, beside);
            for one in &contestants {
                let score = results.score(job, metric, one.name, base.name);
                text += &row(job, metric, one, score, beside);
            }
        }
    }
    text
}

fn heading(metric: &Metric, beside: Kind) -> String {
    let beside = if beside == Kind::Floor {
        "the floor"
    } else {
        "endturn"
    };
    format!(
        "\n| {} | {} | ratio to {beside} | spread | target |\n|---|--:|--:|--:|--:|\n",
        metric.name,
        unit(metric.unit)
    )
}

fn row(job: &Job, metric: &Metric, one: &Contestant, score: Option<Score>, beside: Kind) -> String {
    let Some(score) = score else {
        // A program that an interpreter runs has no size of its own.
        let gap = if job.name == "footprint" {
            ""
        } else {
            "failed"
        };
        return format!("| {} | {gap} | | | |\n", one.name);
    };
    let (ratio, spread) = match score.ratio {
        Some(Spread { median, low, high }) => {
            (format!("{median:.2}"), format!("{low:.2} to {high:.2}"))
        }
        None => (String::new(), String::new()),
    };
    let target = match beside {
        Kind::Floor => target(metric, one.kind, score).unwrap_or_default(),
        _ => String::new(),
    };
    let figure = figure(metric.unit, score.figure.median);
    format!(
        "| {} | {figure} | {ratio} | {spread} | {target} |\n",
        one.name
    )
}

/// What endturn promises here, and whether it was kept.
fn target(metric: &Metric, kind: Kind, score: Score) -> Option<String> {
    if !matches!(kind, Kind::Endturn | Kind::EndturnMulti) {
        return None;
    }
    let (text, verdict) = match metric.target? {
        Target::AtLeast(one_thread, multi) => {
            let limit = if kind == Kind::Endturn {
                one_thread
            } else {
                multi
            };
            let verdict = score.ratio?.keeps(|ratio| ratio >= limit);
            (format!("≥ {limit}"), verdict)
        }
        Target::AtMost(limit) if kind == Kind::Endturn => {
            let verdict = score.ratio?.keeps(|ratio| ratio <= limit);
            (format!("≤ {limit}"), verdict)
        }
        Target::Absolute(limit) => {
            let verdict = score.figure.keeps(|figure| figure < limit);
            (format!("< {limit} {}", unit(metric.unit)), verdict)
        }
        Target::AtMost(_) => return None,
    };
    Some(format!("{text} {}", verdict.mark()))
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::PerSecond => "per second",
        Unit::Micros => "µs",
        Unit::Millis => "ms",
        Unit::Bytes => "bytes",
        Unit::Mebibytes => "MiB",
    }
}

pub(crate) fn figure(unit: Unit, value: f64) -> String {
    match unit {
        Unit::PerSecond | Unit::Bytes => thousands(value),
        Unit::Micros | Unit::Millis | Unit::Mebibytes if value.abs() >= 100.0 => {
            format!("{value:.0}")
        }
        Unit::Micros | Unit::Millis | Unit::Mebibytes => format!("{value:.1}"),
    }
}

/// `1234567` as `1,234,567`.
fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits.as_str()),
    };
    let mut text = String::from(sign);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(thousands(1_234_567.2), "1,234,567");
        assert_eq!(thousands(-123.0), "-123");
        assert_eq!(thousands(1000.0), "1,000");
    }
}
