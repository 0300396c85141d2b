//! One JSON object a line, for scripts. `endturn run --help` documents them.

use endturn::schema::{
    ProtocolVersion,
    v1::{
        Error, Implementation, Meta, PermissionOption, RequestPermissionOutcome,
        SessionConfigOption, SessionId, SessionInfo, SessionModeId, SessionModeState,
        SessionUpdate, StopReason, ToolCallUpdate,
    },
};
use serde::Serialize;

use super::{CancelCause, Event, Opened, Render, page::Page};
use crate::run::outcome::Outcome;

#[derive(Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
enum Line<'a> {
    Session {
        session_id: &'a SessionId,
        agent_info: Option<&'a Implementation>,
        protocol_version: ProtocolVersion,
        opened: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        modes: Option<&'a SessionModeState>,
        #[serde(skip_serializing_if = "Option::is_none")]
        config_options: Option<&'a [SessionConfigOption]>,
    },
    Mode {
        mode_id: &'a SessionModeId,
    },
    Config {
        config_options: &'a [SessionConfigOption],
    },
    Listed {
        session: &'a SessionInfo,
    },
    Update {
        update: &'a SessionUpdate,
    },
    Permission {
        tool_call: &'a ToolCallUpdate,
        options: &'a [PermissionOption],
        outcome: &'a RequestPermissionOutcome,
    },
    Cancel {
        cause: &'static str,
    },
    Stray {
        line: &'a str,
        advice: &'static str,
    },
    Error {
        kind: &'static str,
        message: &'a str,
        hint: Option<&'a str>,
        error: Option<&'a Error>,
    },
    End {
        exit_code: u8,
        stop_reason: Option<StopReason>,
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        meta: Option<&'a Meta>,
    },
}

/// Writes JSON lines.
pub(super) struct Json;

impl Render for Json {
    fn render(&mut self, event: &Event, page: &mut Page) {
        match event {
            Event::Session {
                id,
                agent,
                version,
                opened,
                modes,
                options,
            } => write(
                page,
                &Line::Session {
                    session_id: id,
                    agent_info: agent.as_ref(),
                    protocol_version: *version,
                    opened: match opened {
                        Opened::New => "new",
                        Opened::Loaded => "loaded",
                        Opened::Resumed => "resumed",
                    },
                    modes: modes.as_ref(),
                    config_options: options.as_deref(),
                },
            ),
            Event::Mode(mode_id) => write(page, &Line::Mode { mode_id }),
            Event::Options(config_options) => write(page, &Line::Config { config_options }),
            Event::Listed(session) => write(page, &Line::Listed { session }),
            Event::Update(update) => write(page, &Line::Update { update }),
            Event::Permission {
                request, outcome, ..
            } => write(
                page,
                &Line::Permission {
                    tool_call: &request.tool_call,
                    options: &request.options,
                    outcome,
                },
            ),
            Event::Cancel(cause) => {
                let cause = match cause {
                    CancelCause::Interrupt => "interrupt",
                    CancelCause::CancelAfter => "cancel_after",
                };
                write(page, &Line::Cancel { cause });
            }
            Event::Stray { line, advice } => write(page, &Line::Stray { line, advice }),
            Event::End(outcome) => end(page, outcome),
            // For people only.
            Event::Question(_)
            | Event::Warning(_)
            | Event::Notice(_)
            | Event::Typing
            | Event::Typed { .. }
            | Event::Reached(_)
            | Event::TurnOver(_)
            | Event::Finish => {}
        }
    }
}

fn end(page: &mut Page, outcome: &Outcome) {
    let answer = match outcome {
        Outcome::Answered(answer) => Some(answer),
        Outcome::Done | Outcome::Unread => None,
        Outcome::Failed(failure) => {
            write(
                page,
                &Line::Error {
                    kind: failure.kind.name(),
                    message: &failure.message,
                    hint: failure.hint.as_deref(),
                    error: failure.error.as_deref(),
                },
            );
            None
        }
    };
    write(
        page,
        &Line::End {
            exit_code: outcome.code().number(),
            stop_reason: answer.map(|answer| answer.stop_reason),
            meta: answer.and_then(|answer| answer.meta.as_ref()),
        },
    );
}

fn write(page: &mut Page, line: &Line<'_>) {
    // Only a path that is not UTF-8 cannot be written, and nothing that came as JSON has one.
    if let Ok(line) = serde_json::to_string(line) {
        page.line(&line);
    }
}
