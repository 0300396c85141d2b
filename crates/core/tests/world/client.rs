//! The client's end: its user, its timers and its driver.

use endturn_core::turn::client::{GiveUp, Input, Output};

use super::{
    Caller, Checked, Close, Event, Exchange, Pair, Request, Slot, ToAgent, ToClient, World, forbid,
    require,
};

impl Pair<'_> {
    pub(super) fn events_at_client(&self, world: &World, events: &mut Vec<Event>) {
        if world.client_is_lost {
            return;
        }
        if self.admits_next_prompt(world) {
            events.push(Event::Prompt);
        }
        for (n, exchange) in world.exchanges() {
            if exchange.request == Request::Unwritten {
                events.push(Event::Written(n));
            }
            if exchange.is_waited_for() {
                events.push(Event::GiveUp(n, GiveUp::Dropped));
            }
            // Timers may be late or spurious, and a signal may be used when all is over.
            events.extend([
                Event::Cancel(n),
                Event::GiveUp(n, GiveUp::PromptTimeout),
                Event::CancelTimeout(n),
            ]);
        }
        if self.scenario.close && world.close == Close::Unsent {
            events.push(Event::Close);
        }
        if !world.to_client.is_empty() {
            events.push(Event::ClientReads);
        }
        if self.scenario.loss {
            events.push(Event::ClientIsLost);
        }
    }

    /// The SDK's policy: prompts of a session wait for each other as long as one occupies it.
    fn admits_next_prompt(&self, world: &World) -> bool {
        let made = world
            .slots
            .iter()
            .filter(|slot| **slot != Slot::Unused)
            .count();
        made < self.scenario.prompts
            && !world
                .exchanges()
                .any(|(_, e)| (self.machines.occupies_session)(e.client))
    }

    pub(super) fn client_turn(&self, world: &mut World, n: u8, input: Input) -> Checked {
        let exchange = world.exchange(n);
        let (turn, output) = (self.machines.client)(exchange.client, input);
        exchange.client = turn;
        match output {
            Output::Ignore => Ok(()),
            Output::SendCancel => world.send_session_cancel(n),
            Output::Abandon => world.send_cancel_request(n),
            Output::AbandonAndSettle(_) => {
                world.tell_caller(n)?;
                world.send_cancel_request(n)
            }
            Output::Withdraw => world.withdraw(n),
            Output::WithdrawAndSettle(_) => {
                world.tell_caller(n)?;
                world.withdraw(n)
            }
            Output::Settle(_) => world.tell_caller(n),
            Output::Deliver | Output::Discard => world.receive(n, output),
            Output::Ask | Output::AnswerCancelled => {
                forbid("permissions", "nobody answers a question that nobody asked")
            }
        }
    }

    pub(super) fn give_up(&self, world: &mut World, n: u8, why: GiveUp) -> Checked {
        if why == GiveUp::Dropped {
            world.exchange(n).caller = Caller::Left;
        }
        self.client_turn(world, n, Input::GiveUp(why))
    }

    pub(super) fn write_prompt(&self, world: &mut World, n: u8) -> Checked {
        world.exchange(n).request = Request::Written;
        world.write_to_agent(ToAgent::Prompt(n))?;
        self.client_turn(world, n, Input::Written)
    }

    pub(super) fn send_close(&self, world: &mut World) -> Checked {
        world.close = Close::OnItsWay;
        world.write_to_agent(ToAgent::Close)
    }

    pub(super) fn client_reads(&self, world: &mut World) -> Checked {
        match world.to_client.pop().expect("there is a message to read") {
            ToClient::Update(n) => self.read_update(world, n),
            ToClient::Answer(n) => {
                self.client_turn(world, n, Input::Answer)?;
                world.exchange(n).request = Request::Answered;
                require(
                    !world.exchange(n).is_waited_for(),
                    "settled",
                    "a caller whose answer was read is told",
                )
            }
            ToClient::CloseAnswer => Ok(()),
        }
    }

    /// An update names a session, so the driver takes it for one of the oldest unanswered prompt.
    fn read_update(&self, world: &mut World, n: u8) -> Checked {
        let oldest = world
            .exchanges()
            .find(|(_, exchange)| exchange.owes_answer());
        require(
            oldest.is_some_and(|(oldest, _)| oldest == n),
            "quarantine",
            "an update is taken for one of the turn that sent it",
        )?;
        self.client_turn(world, n, Input::Update)
    }

    pub(super) fn lose_client(&self, world: &mut World) -> Checked {
        world.client_is_lost = true;
        world.to_client.clear();
        let open: Vec<u8> = world.exchanges().map(|(n, _)| n).collect();
        for n in open {
            self.client_turn(world, n, Input::Lost)?;
            require(
                !world.exchange(n).is_waited_for(),
                "settled",
                "every caller is told at once when the connection is lost",
            )?;
        }
        Ok(())
    }
}

impl World {
    /// Puts a message on the wire, where it is lost if the agent does not read any more.
    fn write_to_agent(&mut self, message: ToAgent) -> Checked {
        require(
            !self.client_is_lost,
            "lost",
            "nothing is written to a lost connection",
        )?;
        if self.agent_is_lost {
            Ok(())
        } else {
            self.to_agent.push(message)
        }
    }

    fn send_session_cancel(&mut self, n: u8) -> Checked {
        let exchange = self.exchange(n);
        require(
            exchange.owes_answer(),
            "one-cancel",
            "`session/cancel` is sent neither before its prompt nor after its answer",
        )?;
        require(
            exchange.caller == Caller::Waiting,
            "one-cancel",
            "`session/cancel` is sent once, and not for a turn that its caller has left",
        )?;
        exchange.caller = Caller::WaitingCancelled;
        self.write_to_agent(ToAgent::SessionCancel(n))
    }

    fn send_cancel_request(&mut self, n: u8) -> Checked {
        let exchange = self.exchange(n);
        require(
            exchange.request == Request::Written,
            "drop",
            "`$/cancel_request` is sent once, for what is on the wire and not answered",
        )?;
        require(
            !exchange.is_waited_for(),
            "drop",
            "nobody waits for what is given up",
        )?;
        exchange.request = Request::GivenUp;
        self.write_to_agent(ToAgent::CancelRequest(n))
    }

    fn withdraw(&mut self, n: u8) -> Checked {
        let exchange = self.exchange(n);
        require(
            exchange.request == Request::Unwritten,
            "drop",
            "what is on the wire stays there",
        )?;
        exchange.request = Request::Withdrawn;
        Ok(())
    }

    fn tell_caller(&mut self, n: u8) -> Checked {
        let exchange = self.exchange(n);
        require(
            exchange.is_waited_for(),
            "settled",
            "nobody is told twice, or after leaving",
        )?;
        exchange.caller = Caller::Told;
        Ok(())
    }

    /// Shows an update to the user, or drops what arrived too late for its caller.
    fn receive(&mut self, n: u8, output: Output) -> Checked {
        let delivers = output == Output::Deliver;
        require(
            delivers == self.exchange(n).is_waited_for(),
            "quarantine",
            "what arrives is delivered as long as the caller waits, and then discarded",
        )
    }
}

impl Exchange {
    pub(super) fn is_waited_for(&self) -> bool {
        matches!(self.caller, Caller::Waiting | Caller::WaitingCancelled)
    }

    /// Whether its prompt is on the wire and no answer was read.
    fn owes_answer(&self) -> bool {
        matches!(self.request, Request::Written | Request::GivenUp)
    }
}
