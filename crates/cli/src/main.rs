//! The program `endturn`: serves the scripted agent, or runs an agent for one turn and shows it.

mod agent;
mod args;
mod exit;
mod log;
mod run;
mod signals;
mod style;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    let args = Args::parse();
    log::start(&args.command);
    let code = match args.command {
        Command::Agent(args) => agent::serve(&args),
        Command::Run(args) => run::run(args),
    };
    code.into()
}
