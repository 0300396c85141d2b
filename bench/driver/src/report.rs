//! Where the results go.

use std::fs;

use crate::{
    agents::{self, Kind},
    arguments::Plan,
    child::Result,
    jobs::Role,
    machine,
    measure::Results,
    plot, rival, table,
};

/// What the full command writes stands between these lines; the rest of the page is written by hand.
const BEGIN: &str = "<!-- results: begin -->\n";
const END: &str = "<!-- results: end -->";

pub(crate) fn show(plan: &Plan, results: &Results) -> Result<()> {
    let comparison = table::all(plan, results, |one| one.kind != Kind::Feature, Kind::Floor);
    let comparison = comparison + &rival::table(plan, results);
    let with_features = plan.contestants.iter().any(|one| one.kind == Kind::Feature);
    let costs = if with_features {
        let shown = |kind| matches!(kind, Kind::Endturn | Kind::Feature);
        table::all(
            plan,
            results,
            |one| shown(one.kind) && one.role != Role::Client,
            Kind::Endturn,
        )
    } else {
        String::new()
    };
    if !plan.full {
        print!("{comparison}\n{costs}");
        return Ok(());
    }
    let text = format!(
        "{}\n![Ratios to the floor](results.svg)\n{comparison}\n### What the features cost\n{costs}",
        machine::describe(plan)?
    );
    let page = agents::home().join("README.md");
    let old = fs::read_to_string(&page)?;
    fs::write(page, replace(&old, &text)?)?;
    fs::write(agents::home().join("results.svg"), plot::svg(plan, results))?;
    Ok(())
}

/// The page with new results.
fn replace(page: &str, results: &str) -> Result<String> {
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some(format!("{before}{BEGIN}\n{results}\n{END}{after}"))
    });
    parts.ok_or_else(|| "README.md has lost the lines that the results stand between".into())
}
