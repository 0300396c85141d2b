//! What a program decides about its terminals.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::LocalTerminals;

/// How much output is kept for an agent that does not say.
const OUTPUT_LIMIT: usize = 1024 * 1024;

/// How much output is kept for an agent that wants a lot of it.
const MAX_OUTPUT_LIMIT: usize = 4 * 1024 * 1024;

/// How many terminals a session may have.
const MAX_TERMINALS: usize = 32;

/// How long a command may take to exit after TERM.
const KILL_GRACE: Duration = Duration::from_secs(2);

#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) roots: Vec<Root>,
    pub(super) max_output_limit: usize,
    pub(super) max_terminals: usize,
    pub(super) kill_grace: Duration,
}

/// A directory below which commands may run.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// As the program named it.
    pub(super) given: PathBuf,
    pub(super) canonical: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            roots: Vec::new(),
            max_output_limit: MAX_OUTPUT_LIMIT,
            max_terminals: MAX_TERMINALS,
            kill_grace: KILL_GRACE,
        }
    }
}

impl Options {
    /// How much output to keep, when the agent has asked for so much.
    pub(super) fn output_limit(&self, asked: Option<u64>) -> usize {
        let asked = asked.map_or(OUTPUT_LIMIT, |asked| {
            usize::try_from(asked).unwrap_or(usize::MAX)
        });
        asked.min(self.max_output_limit)
    }
}

impl LocalTerminals {
    /// Lets commands run in this directory and below it; the first root is where they run if the agent does not say.
    ///
    /// It may be relative, to this program's working directory, and be reached through symbolic links.
    /// It holds for this value and for clones made of it afterwards, as all options do.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// let terminals = endturn::client::LocalTerminals::new().root("src")?.root("tests")?;
    /// # drop(terminals);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Policy of this SDK.
    ///
    /// # Errors
    ///
    /// If there is no such directory.
    pub fn root(mut self, root: impl AsRef<Path>) -> io::Result<Self> {
        let root = root.as_ref();
        let canonical = root.canonicalize()?;
        if !canonical.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let given = std::path::absolute(root)?;
        self.options.roots.push(Root { given, canonical });
        Ok(self)
    }

    /// How much output is kept for a terminal at most, in bytes, whatever the agent asks for; the default is 4 MiB.
    ///
    /// An agent that does not ask gets 1 MiB (or this limit, if it is lower), which is what the specification's example asks for and more than a model reads.
    /// With the limit on terminals, the default bounds what a session can make this program hold to 128 MiB.
    ///
    /// ```
    /// let terminals = endturn::client::LocalTerminals::new().max_output_bytes(64 * 1024);
    /// # drop(terminals);
    /// ```
    ///
    /// Policy of this SDK.
    pub fn max_output_bytes(mut self, bytes: usize) -> Self {
        self.options.max_output_limit = bytes;
        self
    }

    /// How many terminals a session may have, those with ended commands included until they are released; the default is 32.
    ///
    /// That is far more than agents run at once, and an end to what one that forgets to release can make this program hold.
    ///
    /// ```
    /// let terminals = endturn::client::LocalTerminals::new().max_terminals(4);
    /// # drop(terminals);
    /// ```
    ///
    /// Policy of this SDK.
    pub fn max_terminals(mut self, count: usize) -> Self {
        self.options.max_terminals = count;
        self
    }

    /// How long a command that is killed has between TERM and KILL; the default is 2 s, and zero kills at once.
    ///
    /// The default is the same as for [agents](crate::transport::AgentCommand::terminate_timeout).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let terminals = endturn::client::LocalTerminals::new().kill_grace(Duration::from_secs(10));
    /// # drop(terminals);
    /// ```
    ///
    /// Policy of this SDK.
    pub fn kill_grace(mut self, grace: Duration) -> Self {
        self.options.kill_grace = grace;
        self
    }
}
