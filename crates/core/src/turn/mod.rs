//! One turn, seen from either end.
//!
//! The agent's machine and the client's know nothing of each other; what they do together, over two pipes and in every interleaving, is explored by the tests of this crate.
//!
//! ```text
//!  agent                                       client
//!
//!  Running ──Cancel──► Cancelling              Unsent ──Written──► Active ──Cancel──► Cancelling
//!     │                    │                      │                   │                   │
//!     └──┬─────────────────┘                      │                   ├───────GiveUp──────┤
//!        ▼                                        │                   ▼                   │
//!  Ended(Ending)                                  │              Quarantined              │
//!                                                 ▼                   ▼                   │
//!                                               Ended ◄───────────────┴──────Answer───────┘
//! ```

pub mod agent;
pub mod client;
