//! The agent's saved sessions.

use std::path::Path;

use endturn::{Client, schema::v1::ListSessionsRequest};

use super::{
    outcome::Trouble,
    session::during,
    show::{Event, Show},
};

/// How many pages are read; an agent whose cursors lead in a circle must not keep this program for ever.
const MOST_PAGES: usize = 10_000;

/// Shows all sessions, in the order in which the agent gives them, and says how many there are.
pub(super) async fn list(
    client: &Client,
    show: &Show,
    cwd: Option<&Path>,
) -> Result<usize, Trouble> {
    let mut cursor: Option<String> = None;
    let mut count = 0;
    for _ in 0..MOST_PAGES {
        let request = ListSessionsRequest::new()
            .cwd(cwd.map(Path::to_owned))
            .cursor(cursor.take());
        let listing = client.list_sessions(request);
        let page = listing.await.map_err(during("session/list"))?;
        count += page.sessions.len();
        for session in page.sessions {
            show.tell_with_room(Event::Listed(session)).await;
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    Ok(count)
}
