//! The agent's end: its handlers, its timers and its driver.

use endturn_core::session;
use endturn_core::turn::agent::{Ending, Finish, Input, Output, Turn};

use super::{
    AtAgent, Checked, Close, Event, Handler, Pair, ToAgent, ToClient, World, forbid, require,
};
use crate::machines::Every as _;

impl Pair<'_> {
    pub(super) fn events_at_agent(&self, world: &World, events: &mut Vec<Event>) {
        for (n, exchange) in world.exchanges() {
            let AtAgent::Turn {
                handler,
                is_answered,
                ..
            } = exchange.at_agent
            else {
                continue;
            };
            // A handler that was dropped or has left tasks behind may still try to send.
            if exchange.updates_left > 0 || is_answered || world.agent_is_lost {
                events.push(Event::Update(n));
            }
            if handler != Handler::Finished {
                events.extend(
                    Finish::every()
                        .iter()
                        .map(|&finish| Event::Finish(n, finish)),
                );
            }
            // Timers may be late or spurious.
            events.extend([Event::GracePeriod(n), Event::MaxDuration(n)]);
        }
        if world.agent_is_lost {
            return;
        }
        if world.close == Close::HandlerRuns {
            events.push(Event::Closed);
        }
        if !world.to_agent.is_empty() {
            events.push(Event::AgentReads);
        }
        if self.scenario.shutdown {
            events.push(Event::Shutdown);
        }
        if self.scenario.loss {
            events.push(Event::AgentIsLost);
        }
    }

    pub(super) fn agent_turn(&self, world: &mut World, n: u8, input: Input) -> Checked {
        let AtAgent::Turn { turn, .. } = &mut world.exchange(n).at_agent else {
            panic!("prompt {n} has no turn");
        };
        let (next, output) = (self.machines.agent)(*turn, input);
        *turn = next;
        match output {
            Output::Ignore | Output::Signal(_) => Ok(()),
            Output::End(ending) => self.end_turn(world, n, ending),
            Output::Interrupt(_, ending) => {
                world.set_handler(n, Handler::Dropped);
                self.end_turn(world, n, ending)
            }
            Output::Send => world.send_update(n),
            Output::Discard => world.require_answered(n),
        }
    }

    /// Answers a prompt and frees its session, in one step.
    fn end_turn(&self, world: &mut World, n: u8, ending: Ending) -> Checked {
        world.answer(n, ending)?;
        match self.apply_to_session(world, session::Input::TurnEnded) {
            session::Output::RunClose => world.close = Close::HandlerRuns,
            session::Output::Ignore => {}
            session::Output::StartTurn
            | session::Output::CancelTurn
            | session::Output::Reject(_) => {
                forbid("one-turn", "the end of a turn only frees its session")?;
            }
        }
        let (_, to_next_prompt) = (self.machines.session)(world.session, session::Input::Prompt);
        require(
            to_next_prompt != session::Output::Reject(session::Rejection::Busy),
            "free-before-answer",
            "a session is free before the answer of its turn can be read",
        )
    }

    fn apply_to_session(&self, world: &mut World, input: session::Input) -> session::Output {
        let (next, output) = (self.machines.session)(world.session, input);
        world.session = next;
        output
    }

    pub(super) fn agent_reads(&self, world: &mut World) -> Checked {
        match world.to_agent.pop().expect("there is a message to read") {
            ToAgent::Prompt(n) => self.read_prompt(world, n),
            ToAgent::SessionCancel(n) => self.read_session_cancel(world, n),
            ToAgent::CancelRequest(n) => self.read_cancel_request(world, n),
            ToAgent::Close => self.read_close(world),
        }
    }

    fn read_prompt(&self, world: &mut World, n: u8) -> Checked {
        let running = world.running_turn();
        match self.apply_to_session(world, session::Input::Prompt) {
            session::Output::StartTurn => {
                require(
                    running.is_none(),
                    "one-turn",
                    "a session has one turn at most",
                )?;
                world.exchange(n).at_agent = AtAgent::Turn {
                    turn: Turn::Running,
                    handler: Handler::Running,
                    is_answered: false,
                };
                Ok(())
            }
            session::Output::Reject(_) => self.reject(world, n, running),
            session::Output::Ignore | session::Output::CancelTurn | session::Output::RunClose => {
                forbid("always-answered", "a prompt starts a turn or is rejected")
            }
        }
    }

    /// A client that keeps to its policy is rejected by a session that is being closed, and by an agent that goes on with a turn whose caller has left.
    fn reject(&self, world: &mut World, n: u8, running: Option<u8>) -> Checked {
        let is_closing = matches!(world.close, Close::Waiting | Close::HandlerRuns);
        let goes_on_with_given_up_turn = !self.scenario.knows_cancel_request
            && running.is_some_and(|running| !world.exchange(running).is_waited_for());
        require(
            is_closing || goes_on_with_given_up_turn,
            "free-before-answer",
            "a prompt that no other occupies the session for is accepted",
        )?;
        world.exchange(n).at_agent = AtAgent::Rejected;
        world.write_to_client(ToClient::Answer(n))
    }

    fn read_session_cancel(&self, world: &mut World, meant: u8) -> Checked {
        let Some(hit) = world.running_turn() else {
            return Ok(());
        };
        let was_left = !world.exchange(hit).is_waited_for();
        require(
            hit == meant || (!self.scenario.knows_cancel_request && was_left),
            "one-cancel",
            "`session/cancel` hits the turn it is meant for, or none, or one that its caller has left if the agent does not know `$/cancel_request`",
        )?;
        world.exchange(hit).was_asked_to_stop = true;
        self.agent_turn(world, hit, Input::SessionCancel)
    }

    fn read_cancel_request(&self, world: &mut World, n: u8) -> Checked {
        let is_known = matches!(world.exchange(n).at_agent, AtAgent::Turn { .. });
        if !self.scenario.knows_cancel_request || !is_known {
            return Ok(());
        }
        self.agent_turn(world, n, Input::RequestCancel)?;
        world.require_answered(n)
    }

    fn read_close(&self, world: &mut World) -> Checked {
        let running = world.running_turn();
        match self.apply_to_session(world, session::Input::Close) {
            session::Output::RunClose => {
                require(
                    running.is_none(),
                    "close-cancels",
                    "a close waits for the turn's end",
                )?;
                world.close = Close::HandlerRuns;
                Ok(())
            }
            session::Output::CancelTurn => {
                world.close = Close::Waiting;
                let running = running.expect("a session that has a turn to cancel is busy");
                world.exchange(running).was_asked_to_stop = true;
                self.agent_turn(world, running, Input::SessionClose)
            }
            session::Output::Ignore | session::Output::StartTurn | session::Output::Reject(_) => {
                forbid("close-cancels", "the first close is carried out")
            }
        }
    }

    pub(super) fn closed(&self, world: &mut World) -> Checked {
        require(
            world.running_turn().is_none(),
            "close-cancels",
            "the prompt's answer stands before the close answer",
        )?;
        self.apply_to_session(world, session::Input::Closed);
        world.close = Close::Answered;
        world.write_to_client(ToClient::CloseAnswer)
    }

    pub(super) fn finish(&self, world: &mut World, n: u8, finish: Finish) -> Checked {
        world.set_handler(n, Handler::Finished);
        self.agent_turn(world, n, Input::Finished(finish))?;
        world.require_answered(n)
    }

    pub(super) fn shut_down(&self, world: &mut World) -> Checked {
        let Some(running) = world.running_turn() else {
            return Ok(());
        };
        world.exchange(running).was_asked_to_stop = true;
        self.agent_turn(world, running, Input::Shutdown)
    }

    pub(super) fn lose_agent(&self, world: &mut World) -> Checked {
        world.agent_is_lost = true;
        world.to_agent.clear();
        if let Some(running) = world.running_turn() {
            self.agent_turn(world, running, Input::Lost)?;
            world.require_answered(running)?;
        }
        Ok(())
    }
}

impl World {
    fn running_turn(&self) -> Option<u8> {
        self.exchanges()
            .find(|(_, exchange)| exchange.at_agent.owes_answer())
            .map(|(n, _)| n)
    }

    fn set_handler(&mut self, n: u8, to: Handler) {
        if let AtAgent::Turn { handler, .. } = &mut self.exchange(n).at_agent {
            *handler = to;
        }
    }

    /// Puts a message on the wire, where it is lost if the client does not read any more.
    fn write_to_client(&mut self, message: ToClient) -> Checked {
        require(
            !self.agent_is_lost,
            "lost",
            "nothing is written to a lost connection",
        )?;
        if self.client_is_lost {
            Ok(())
        } else {
            self.to_client.push(message)
        }
    }

    fn send_update(&mut self, n: u8) -> Checked {
        let exchange = self.exchange(n);
        require(
            exchange.at_agent.owes_answer(),
            "late-update",
            "no update is sent after the answer",
        )?;
        exchange.updates_left -= 1;
        self.write_to_client(ToClient::Update(n))
    }

    fn answer(&mut self, n: u8, ending: Ending) -> Checked {
        let exchange = self.exchange(n);
        let was_asked_to_stop = exchange.was_asked_to_stop;
        let AtAgent::Turn { is_answered, .. } = &mut exchange.at_agent else {
            panic!("prompt {n} has no turn");
        };
        require(!*is_answered, "one-answer", "a prompt is answered once")?;
        *is_answered = true;
        if ending == Ending::Lost {
            return require(
                self.agent_is_lost,
                "lost",
                "a prompt is lost with its connection",
            );
        }
        require(
            !was_asked_to_stop || ending == Ending::Cancelled,
            "cancelled-answer",
            "a turn that was asked to stop before its answer is answered `cancelled`",
        )?;
        self.write_to_client(ToClient::Answer(n))
    }

    fn require_answered(&mut self, n: u8) -> Checked {
        require(
            !self.exchange(n).at_agent.owes_answer(),
            "always-answered",
            "the answer stands when the turn is over",
        )
    }
}

impl AtAgent {
    fn owes_answer(self) -> bool {
        match self {
            Self::Turn { is_answered, .. } => !is_answered,
            Self::Unknown | Self::Rejected => false,
        }
    }
}
