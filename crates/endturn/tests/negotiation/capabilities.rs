//! Each capability, present and absent.

use super::*;

/// What a peer can be asked about one capability.
type Capability<P> = (
    &'static str,
    Value,
    fn(&P) -> bool,
    fn(&P) -> Result<(), Error>,
);

macro_rules! capability_table {
    ($peer:ident: $($(#[$attribute:meta])* $supports:ident, $require:ident, $name:literal, $leaf:tt;)*) => {
        vec![$($(#[$attribute])* ($name, json!($leaf), $peer::$supports, $peer::$require)),*]
    };
}

/// Looks at one capability after the other, each offered by a peer that offers nothing else.
fn check_capabilities<P>(table: &[Capability<P>], peers: &[P]) {
    for ((offered, ..), peer) in table.iter().zip(peers) {
        for (name, _, supports, require) in table {
            // What is within another capability cannot be offered without it.
            let expected = offered == name || offered.starts_with(&format!("{name}."));
            assert_eq!(supports(peer), expected, "{name} with {offered}");
            match require(peer) {
                Ok(()) => assert!(expected, "{name} with {offered}"),
                Err(error) => {
                    assert!(!expected, "{name} with {offered}");
                    refusal(&error, name);
                }
            }
        }
    }
    assert_eq!(table.len(), peers.len());
}

#[tokio::test]
async fn every_capability_of_an_agent_is_seen() {
    let table: Vec<Capability<AgentPeer>> = capability_table! { AgentPeer:
        supports_load_session, require_load_session, "loadSession", true;
        supports_list_sessions, require_list_sessions, "sessionCapabilities.list", {};
        supports_delete_session, require_delete_session, "sessionCapabilities.delete", {};
        supports_resume_session, require_resume_session, "sessionCapabilities.resume", {};
        supports_close_session, require_close_session, "sessionCapabilities.close", {};
        supports_additional_directories, require_additional_directories,
            "sessionCapabilities.additionalDirectories", {};
        supports_system_prompt, require_system_prompt, "sessionCapabilities.systemPrompt", {};
        supports_system_prompt_override, require_system_prompt_override,
            "sessionCapabilities.systemPrompt.mode.override", {};
        supports_logout, require_logout, "auth.logout", {};
        supports_image, require_image, "promptCapabilities.image", true;
        supports_audio, require_audio, "promptCapabilities.audio", true;
        supports_embedded_context, require_embedded_context,
            "promptCapabilities.embeddedContext", true;
        supports_mcp_http, require_mcp_http, "mcpCapabilities.http", true;
        supports_mcp_sse, require_mcp_sse, "mcpCapabilities.sse", true;
        #[cfg(feature = "unstable_mcp_over_acp")]
        supports_mcp_acp, require_mcp_acp, "mcpCapabilities.acp", true;
        #[cfg(feature = "unstable_session_fork")]
        supports_fork_session, require_fork_session, "sessionCapabilities.fork", {};
        #[cfg(feature = "unstable_session_archive")]
        supports_archive_session, require_archive_session, "sessionCapabilities.archive", {};
        #[cfg(feature = "unstable_session_status")]
        supports_session_status, require_session_status, "sessionCapabilities.status", {};
        #[cfg(feature = "unstable_session_options")]
        supports_session_options, require_session_options, "sessionCapabilities.options", {};
        #[cfg(feature = "unstable_session_set_title")]
        supports_set_session_title, require_set_session_title, "sessionCapabilities.title", {};
        #[cfg(feature = "unstable_llm_providers")]
        supports_providers, require_providers, "providers", {};
        #[cfg(feature = "unstable_auth_status")]
        supports_auth_status, require_auth_status, "auth.status", {};
    };
    let mut peers = Vec::new();
    for (name, leaf, ..) in &table {
        let (client, _agent) = agent_offering(nested(name, leaf.clone())).await;
        peers.push(client.agent().unwrap());
    }
    check_capabilities(&table, &peers);
}

#[tokio::test]
async fn every_capability_of_a_client_is_seen() {
    let table: Vec<Capability<ClientPeer>> = capability_table! { ClientPeer:
        supports_read_text_file, require_read_text_file, "fs.readTextFile", true;
        supports_write_text_file, require_write_text_file, "fs.writeTextFile", true;
        supports_terminal, require_terminal, "terminal", true;
        supports_elicitation_form, require_elicitation_form, "elicitation.form", {};
        supports_elicitation_url, require_elicitation_url, "elicitation.url", {};
        supports_boolean_config_options, require_boolean_config_options,
            "session.configOptions.boolean", {};
        supports_notices, require_notices, "session.notices", {};
        supports_compaction, require_compaction, "session.compaction", {};
    };
    let (sender, mut known) = mpsc::unbounded_channel();
    let agent = Agent::builder()
        .on_prompt(move |_, cx| {
            sender.send(cx.client().unwrap()).unwrap();
            async { ended() }
        })
        .build();
    let mut peers = Vec::new();
    for (name, leaf, ..) in &table {
        let mut client = client_offering(agent.clone(), nested(name, leaf.clone())).await;
        client.send(prompt(1, "a", "x")).await;
        peers.push(known.recv().await.unwrap());
    }
    check_capabilities(&table, &peers);
}
