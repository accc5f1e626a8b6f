//! What is sent: a script's call, by its name or with its text, or a plain command.

use redis::Cmd;

use super::node::Packed;
use crate::redis::key::KeyName;
use crate::redis::script::Script;

/// Something to be answered by one server.
#[derive(Debug)]
pub(super) enum Message<'a> {
    /// A script on keys of one slot.
    Script {
        /// The script.
        script: &'a Script,
        /// Its `KEYS`.
        keys: &'a [KeyName],
        /// Its `ARGV`.
        arguments: &'a [&'a [u8]],
    },
    /// A command.
    Command(&'a Cmd),
}

/// How a message is sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Form {
    /// With the script's text, for a server that has forgotten it.
    pub(super) with_text: bool,
    /// To a node that is just taking over the slot.
    pub(super) asking: bool,
}

impl Message<'_> {
    /// Whether it has another form for a server that does not know its script.
    pub(super) fn has_text(&self) -> bool {
        matches!(self, Message::Script { .. })
    }

    pub(super) fn pack(&self, form: Form) -> Packed {
        let mut bytes = Vec::new();
        if form.asking {
            redis::cmd("ASKING").write_packed_command(&mut bytes);
        }
        match self {
            Message::Command(command) => command.write_packed_command(&mut bytes),
            Message::Script { script, keys, arguments } => {
                let mut call = if form.with_text {
                    let mut call = redis::cmd("EVAL");
                    call.arg(script.source());
                    call
                } else {
                    let mut call = redis::cmd("EVALSHA");
                    call.arg(script.sha1());
                    call
                };
                call.arg(keys.len());
                for key in *keys {
                    call.arg(key.as_bytes());
                }
                call.arg(*arguments).write_packed_command(&mut bytes);
            }
        }
        Packed { bytes, preamble: usize::from(form.asking) }
    }
}
