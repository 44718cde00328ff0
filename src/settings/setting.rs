//! The definition of one setting.

/// Definition of a setting: its names, and the texts of the help and of the documentation.
#[derive(Debug)]
pub struct Setting {
    /// Environment variable; empty if the setting is only a flag.
    pub variable: &'static str,
    /// Command-line flag without the dashes; empty for a secret, which must not appear in a process list, and for the
    /// command that prints one.
    pub flag: &'static str,
    /// Placeholder of the value in the help; empty for a switch.
    pub value: &'static str,
    /// Description of the setting.
    pub meaning: &'static str,
    /// What applies without a value; empty if that is nothing.
    pub default: &'static str,
}

impl Setting {
    /// Returns the name under which the setting is stored and reported: the variable, or the flag if there is no
    /// variable.
    pub(super) const fn name(&self) -> &'static str {
        if self.variable.is_empty() { self.flag } else { self.variable }
    }

    /// Returns the name of the setting in a file.
    pub fn word(&self) -> String {
        self.flag.replace('-', "_")
    }

    /// Returns whether the value must not be shown.
    pub(super) fn is_secret(&self) -> bool {
        self.flag.is_empty() && !self.is_command()
    }

    /// Returns whether the value is a command line. Its words may be secrets if a person has set it wrongly.
    pub(super) fn is_command(&self) -> bool {
        self.value == "COMMAND"
    }

    /// Returns whether the value is the path of a file or directory.
    pub(super) fn is_path(&self) -> bool {
        matches!(self.value, "FILE" | "DIR")
    }

    /// Returns whether the value is a whole number.
    pub(super) fn is_number(&self) -> bool {
        matches!(self.value, "NUMBER" | "SECONDS")
    }

    /// Returns whether the setting takes no value on the command line.
    pub(super) const fn is_switch(&self) -> bool {
        self.value.is_empty()
    }
}
