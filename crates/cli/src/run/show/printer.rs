//! Writing while a line is being typed.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use rustyline::ExternalPrinter;

/// Puts text above the line that is being typed; clones are the same one.
#[derive(Clone)]
pub(in crate::run) struct Printer(Arc<Mutex<Box<dyn ExternalPrinter + Send>>>);

impl Printer {
    pub(in crate::run) fn new(printer: impl ExternalPrinter + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(printer))))
    }

    /// Prints text as lines of their own.
    ///
    /// It waits while the editor is busy, with a search in the history for example, so it does so elsewhere.
    pub(super) async fn print(&self, text: String) {
        let Self(printer) = self.clone();
        let printing = tokio::task::spawn_blocking(move || {
            let mut printer = printer.lock().unwrap_or_else(PoisonError::into_inner);
            // A terminal that is gone is noticed by whoever reads from it.
            let _ = printer.print(text);
        });
        let _ = printing.await;
    }
}

impl fmt::Debug for Printer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Printer").finish_non_exhaustive()
    }
}
