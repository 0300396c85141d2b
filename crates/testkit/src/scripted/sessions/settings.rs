//! What a user can choose in a session: its mode and its config options.

use endturn::schema::v1::{
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue,
    SessionConfigSelectOption, SessionMode, SessionModeId, SessionModeState,
};

/// Whether the agent asks before it writes or runs anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::scripted) enum Mode {
    #[default]
    Default,
    Careful,
}

impl Mode {
    const ALL: [Self; 2] = [Self::Default, Self::Careful];

    pub(in crate::scripted) fn of(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.id() == id)
    }

    pub(in crate::scripted) fn id(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Careful => "careful",
        }
    }

    fn described(self) -> SessionMode {
        let (name, description) = match self {
            Self::Default => ("Default", "Writes and runs without asking"),
            Self::Careful => (
                "Careful",
                "Asks for a permission before it writes or runs anything",
            ),
        };
        SessionMode::new(self.id(), name).description(description.to_owned())
    }
}

/// A choice that is kept and reported, and has no effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::scripted) enum Model {
    #[default]
    Small,
    Large,
}

impl Model {
    const ALL: [Self; 2] = [Self::Small, Self::Large];

    fn of(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|model| model.id() == id)
    }

    fn id(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Large => "large",
        }
    }

    fn described(self) -> SessionConfigSelectOption {
        let name = match self {
            Self::Small => "Small",
            Self::Large => "Large",
        };
        SessionConfigSelectOption::new(self.id(), name)
    }
}

const MODEL: &str = "model";
const THINKING: &str = "thinking";

/// A config option with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scripted) enum Setting {
    Model(Model),
    Thinking(bool),
}

impl Setting {
    /// From the words of a script.
    pub(in crate::scripted) fn of(key: &str, value: &str) -> Option<Self> {
        match key {
            MODEL => Model::of(value).map(Self::Model),
            THINKING => value.parse().ok().map(Self::Thinking),
            _ => None,
        }
    }

    /// From a client's request; the error is the field that is at fault, and why.
    pub(in crate::scripted) fn requested(
        key: &str,
        value: &SessionConfigOptionValue,
    ) -> Result<Self, (&'static str, String)> {
        match key {
            MODEL => value
                .as_value_id()
                .and_then(|id| Model::of(&id.0))
                .map(Self::Model)
                .ok_or_else(|| ("value", "it is `small` or `large`".to_owned())),
            THINKING => value
                .as_bool()
                .map(Self::Thinking)
                .ok_or_else(|| ("value", "it is a boolean".to_owned())),
            _ => Err(("configId", format!("there is no option `{key}`"))),
        }
    }
}

/// What is chosen in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scripted) struct Settings {
    pub(in crate::scripted) mode: Mode,
    pub(in crate::scripted) model: Model,
    pub(in crate::scripted) thinking: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            model: Model::default(),
            thinking: true,
        }
    }
}

impl Settings {
    pub(in crate::scripted) fn set(&mut self, setting: Setting) {
        match setting {
            Setting::Model(model) => self.model = model,
            Setting::Thinking(on) => self.thinking = on,
        }
    }

    pub(in crate::scripted) fn modes(self) -> SessionModeState {
        let all = Mode::ALL.map(Mode::described);
        SessionModeState::new(SessionModeId::new(self.mode.id()), all.into())
    }

    /// The options; those that are on or off only for a client that understands them.
    pub(in crate::scripted) fn options(self, booleans: bool) -> Vec<SessionConfigOption> {
        let models = Vec::from(Model::ALL.map(Model::described));
        let model = SessionConfigOption::select(MODEL, "Model", self.model.id(), models)
            .category(SessionConfigOptionCategory::Model);
        let thinking = SessionConfigOption::boolean(THINKING, "Thinking", self.thinking)
            .description("Whether `think` steps are sent".to_owned());
        let mut options = vec![model];
        options.extend(booleans.then_some(thinking));
        options
    }
}
