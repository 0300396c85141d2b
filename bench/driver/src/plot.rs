//! The comparison as a picture: for each metric a row, for each contestant a dot at its ratio to the floor.
//!
//! The scale is logarithmic, and turned so that better is always to the right; an arrow stands for what is beyond it.

use std::fmt::Write as _;

use crate::{
    agents::{Contestant, Kind},
    arguments::Plan,
    jobs::Metric,
    measure::{Results, takes_part},
};

const LEFT: f64 = 400.0;
const WIDTH: f64 = 620.0;
const TOP: f64 = 70.0;
const ROW: f64 = 26.0;
/// How many powers of ten are shown to the left of the floor, and to the right.
const WORSE: f64 = 3.5;
const BETTER: f64 = 1.5;

pub(crate) fn svg(plan: &Plan, results: &Results) -> String {
    let mut rows = String::new();
    let mut y = TOP;
    for job in &plan.jobs {
        let mut contestants: Vec<_> = takes_part(plan, job)
            .filter(|one| one.kind != Kind::Feature)
            .collect();
        let Some(floor) = contestants.iter().find(|one| one.kind == Kind::Floor) else {
            continue;
        };
        let floor = floor.name;
        // What stands last is drawn over the others, and that has to be what the page is about.
        contestants.sort_by_key(|one| match one.kind {
            Kind::Peer | Kind::Feature => 0,
            Kind::Floor => 1,
            Kind::EndturnMulti | Kind::Scripted => 2,
            Kind::Endturn => 3,
        });
        for metric in job.metrics {
            push(
                &mut rows,
                format_args!(
                    r#"<text x="{}" y="{}" text-anchor="end">{}</text><line x1="{LEFT}" x2="{}" y1="{y}" y2="{y}" class="row"/>"#,
                    LEFT - 12.0,
                    y + 4.0,
                    metric.name,
                    LEFT + WIDTH
                ),
            );
            for one in &contestants {
                let ratio = results
                    .score(job, metric, one.name, floor)
                    .and_then(|score| score.ratio);
                if let Some(ratio) = ratio {
                    push(
                        &mut rows,
                        format_args!("{}", mark(one, metric, ratio.median, y)),
                    );
                }
            }
            y += ROW;
        }
    }
    let height = y;
    let mut svg = String::new();
    push(
        &mut svg,
        format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {height}" font-family="sans-serif" font-size="13">"#,
            LEFT + WIDTH + 24.0
        ),
    );
    svg += "<style>text{fill:#444} .row{stroke:#ddd} .grid{stroke:#ccc;stroke-dasharray:2 3} .floor{stroke:#444} .mark{stroke:#fff;stroke-width:1.2}</style>\n";
    svg += r##"<rect width="100%" height="100%" fill="#fff"/>"##;
    svg += &grid(height);
    svg += &legend();
    svg += &rows;
    svg += "</svg>\n";
    svg
}

/// A dot, or an arrow at the edge for what is beyond the scale.
fn mark(one: &Contestant, metric: &Metric, ratio: f64, y: f64) -> String {
    let better = if metric.unit.more_is_better() {
        ratio
    } else {
        1.0 / ratio
    };
    let power = better.log10();
    let x = place(power.clamp(-WORSE, BETTER));
    let shape = if power < -WORSE {
        arrow(x, x - 9.0, y)
    } else if power > BETTER {
        arrow(x, x + 9.0, y)
    } else {
        format!(r#"<circle cx="{x:.1}" cy="{y}" r="5.5"/>"#)
    };
    format!(
        r#"<g fill="{}" class="mark"><title>{}: {ratio:.2}</title>{shape}</g>"#,
        colour(one).1,
        one.name
    )
}

fn arrow(from: f64, to: f64, y: f64) -> String {
    let (top, bottom) = (y - 5.5, y + 5.5);
    format!(r#"<path d="M{from:.1} {top} L{to:.1} {y} L{from:.1} {bottom} Z"/>"#)
}

/// Where a power of ten is.
fn place(power: f64) -> f64 {
    LEFT + (power + WORSE) / (WORSE + BETTER) * WIDTH
}

fn grid(height: f64) -> String {
    let mut text = String::new();
    for power in -3_i32..=1 {
        let x = place(f64::from(power));
        let (class, label) = match power {
            0 => ("floor", "floor".to_owned()),
            power if power < 0 => (
                "grid",
                format!("{} times worse", 10_u32.pow(power.unsigned_abs())),
            ),
            power => (
                "grid",
                format!("{} times better", 10_u32.pow(power.unsigned_abs())),
            ),
        };
        push(
            &mut text,
            format_args!(
                r#"<line x1="{x:.1}" x2="{x:.1}" y1="{}" y2="{height}" class="{class}"/><text x="{x:.1}" y="{}" text-anchor="middle" font-size="11">{label}</text>"#,
                TOP - 20.0,
                TOP - 26.0
            ),
        );
    }
    text
}

/// A contestant's kind of dot: what the legend says of it, and its colour.
fn colour(one: &Contestant) -> (&'static str, &'static str) {
    match one.kind {
        Kind::Floor => LEGEND[0],
        Kind::Endturn => LEGEND[1],
        Kind::EndturnMulti | Kind::Scripted | Kind::Feature => LEGEND[2],
        Kind::Peer if one.name.starts_with("official") => LEGEND[3],
        Kind::Peer if one.name.starts_with("TypeScript") => LEGEND[4],
        Kind::Peer => LEGEND[5],
    }
}

const LEGEND: [(&str, &str); 6] = [
    ("by hand", "#888888"),
    ("endturn", "#0a7d33"),
    ("endturn, multi-thread or scripted", "#7fc796"),
    ("official Rust SDK", "#c8501e"),
    ("TypeScript SDK", "#3178c6"),
    ("Python SDK", "#d4a017"),
];

fn legend() -> String {
    let mut text = String::new();
    let mut x = 20.0;
    for (name, colour) in LEGEND {
        push(
            &mut text,
            format_args!(
                r#"<circle cx="{x}" cy="18" r="5" fill="{colour}"/><text x="{}" y="22">{name}</text>"#,
                x + 10.0
            ),
        );
        x += 40.0 + 7.0 * name.len() as f64;
    }
    text
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    let written = text.write_fmt(line).and_then(|()| text.write_char('\n'));
    debug_assert!(written.is_ok(), "a string takes everything");
}
