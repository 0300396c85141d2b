//! The scripted agent, which is what `endturn agent` serves.
//!
//! `--multi` runs it on a multi-thread runtime.

use std::error::Error;

use endturn::transport;
use endturn_testkit::scripted;

fn main() -> Result<(), Box<dyn Error>> {
    let mut runtime = if std::env::args().any(|argument| argument == "--multi") {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    runtime.enable_all().build()?.block_on(async {
        let agent = scripted::agent().build();
        agent.serve(transport::stdio()?).await?;
        Ok(())
    })
}
