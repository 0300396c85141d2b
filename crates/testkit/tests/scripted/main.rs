//! The scripted agent on the wire: every step and every method.

mod client;
mod sessions;
mod steps;
mod wire;
