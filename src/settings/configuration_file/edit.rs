//! Changes of the configuration file. Comments, order and line ends stay.

use toml_edit::{Item, Table, TableLike, value};

use super::{
    ConfigurationFile, MAX_BYTES,
    content::{Configuration, DEFAULT_PROFILE, PROFILES},
};
use crate::{
    failure::Failure,
    settings::{
        profile_settings::item_of,
        profile_value::ProfileValue,
        unusable_file::{FileProblem, UnusableFile},
    },
    text_file::{TextFile, TextFileError, lock_beside},
    toml_text::{TomlText, assign},
};

impl ConfigurationFile {
    /// Sets settings of a profile. A profile that does not exist is created.
    ///
    /// # Errors
    /// `invalid_arguments`: the text cannot be the name of a profile. `file_error`: the file has an error, or cannot be written.
    /// `conflict`: another program changes the file at the same time.
    pub fn set_values(&self, profile: &str, values: &[ProfileValue]) -> Result<(), Failure> {
        Self::check_name(profile).map_err(|failure| failure.hint("nothing was changed"))?;

        self.edit(|text| {
            let Some(table) = profile_table(text, profile) else { return };
            for value in values {
                assign(table, &value.setting.word(), item_of(value.setting, &value.text));
            }
        })
    }

    /// Removes a profile, if it exists. If it is the default profile, there is none afterwards.
    ///
    /// # Errors
    /// `file_error`: the file has an error, or cannot be written. `conflict`: another program changes the file at the same time.
    pub fn remove_profile(&self, profile: &str) -> Result<(), Failure> {
        self.edit(|text| {
            let profiles = text.document.get_mut(PROFILES).and_then(Item::as_table_like_mut);
            if let Some(Item::Table(removed)) = profiles.and_then(|profiles| profiles.remove(profile)) {
                text.keep_comments(&removed);
            }
            if text.document.get(DEFAULT_PROFILE).and_then(Item::as_str) == Some(profile) {
                text.document.remove(DEFAULT_PROFILE);
            }
        })
    }

    /// Sets the profile that is used if no other one is chosen.
    ///
    /// # Errors
    /// `file_error`: the file has an error, or cannot be written. `conflict`: another program changes the file at the same time.
    pub fn set_default_profile(&self, profile: &str) -> Result<(), Failure> {
        self.edit(|text| {
            let mut name = value(profile);
            if let Some(name) = name.as_value_mut().filter(|_| !text.document.is_empty()) {
                // A blank line separates the name from the profiles.
                name.decor_mut().set_suffix("\n");
            }
            assign(text.document.as_table_mut(), DEFAULT_PROFILE, name);
        })
    }

    /// Changes the text of the file. A file with an error is left as it is. Another process that changes the file at the same
    /// time waits.
    fn edit(&self, change: impl FnOnce(&mut TomlText)) -> Result<(), Failure> {
        self.try_edit(change)
            .map_err(|problem| UnusableFile { path: self.path.clone(), problem }.into_failure())
    }

    fn try_edit(&self, change: impl FnOnce(&mut TomlText)) -> Result<(), FileProblem> {
        let _lock = lock_beside(&self.path)?;
        let file = TextFile::read(&self.path, MAX_BYTES)?;
        let mut text = TomlText::parse(file.text())?;

        change(&mut text);
        let changed = text.to_string();
        if changed == file.text() {
            return Ok(());
        }
        // A file that could not be read again would disable every command.
        Configuration::parse(&changed)?;
        if changed.len() as u64 > MAX_BYTES {
            return Err(TextFileError::TooLarge(MAX_BYTES).into());
        }

        Ok(file.replace(&changed)?)
    }
}

/// Returns the table of a profile. Creates it if it does not exist.
fn profile_table<'a>(text: &'a mut TomlText, profile: &str) -> Option<&'a mut dyn TableLike> {
    let profiles = text.document.entry(PROFILES).or_insert_with(|| {
        let mut profiles = Table::new();
        profiles.set_implicit(true);
        Item::Table(profiles)
    });
    let new = if profiles.is_inline_table() {
        value(toml_edit::InlineTable::new())
    } else {
        Item::Table(Table::new())
    };

    profiles.as_table_like_mut()?.entry(profile).or_insert(new).as_table_like_mut()
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, thread};

    use super::*;
    use crate::failure::Code;

    /// A change of the file.
    type Change<'a> = &'a dyn Fn(&ConfigurationFile);

    fn file_in(directory: &Path, text: &str) -> ConfigurationFile {
        let path = directory.join("config.toml");
        fs::write(&path, text).expect("written");
        ConfigurationFile { path }
    }

    fn value_of(word: &str, text: &str) -> ProfileValue {
        ProfileValue::new(word, text, Path::new("/")).expect("a value")
    }

    #[test]
    fn comments_order_and_line_ends_stay() {
        let directory = tempfile::tempdir().expect("a directory");
        let set =
            |file: &ConfigurationFile| file.set_values("a", &[value_of("timeout_s", "5")]).expect("set");
        let remove = |file: &ConfigurationFile| file.remove_profile("a").expect("removed");
        let choose = |file: &ConfigurationFile| file.set_default_profile("b").expect("chosen");
        let cases: [(&str, Change<'_>, &str); 9] = [
            ("", &set, "[profile.a]\ntimeout_s = 5\n"),
            (
                "# mine\n[profile.a]\ntimeout_s = 1 # short\nproject = 'x'\n",
                &set,
                "# mine\n[profile.a]\ntimeout_s = 5 # short\nproject = 'x'\n",
            ),
            ("\u{feff}[profile.b]\r\n", &set, "\u{feff}[profile.b]\r\n\r\n[profile.a]\r\ntimeout_s = 5\r\n"),
            ("profile = {b = {}}\n", &set, "profile = {b = {}, a = { timeout_s = 5 } }\n"),
            (
                "default_profile = 'a'\n# one\n[profile.a]\n# two\n[profile.b]\n",
                &remove,
                "# one\n# two\n[profile.b]\n",
            ),
            ("[profile.b]\n", &remove, "[profile.b]\n"),
            ("", &remove, ""),
            ("# mine\n[profile.b]\n", &choose, "default_profile = \"b\"\n\n# mine\n[profile.b]\n"),
            ("default_profile = 'a' # one\n", &choose, "default_profile = \"b\" # one\n"),
        ];

        for (text, change, expected) in cases {
            let file = file_in(directory.path(), text);
            change(&file);
            assert_eq!(fs::read_to_string(file.path()).expect("a file"), expected);
        }
    }

    #[test]
    fn a_file_with_an_error_is_left_as_it_is() {
        let directory = tempfile::tempdir().expect("a directory");

        for text in ["[profile.a]\ncolour = 1\n", "[profile.a\n", "[profile.a]\r\n[profile.b]\n"] {
            let file = file_in(directory.path(), text);
            let failure = file.set_values("a", &[value_of("timeout_s", "5")]).expect_err("a failure");

            assert_eq!(failure.code, Code::FileError);
            assert!(failure.message.contains("config.toml cannot be used"), "{}", failure.message);
            assert_eq!(fs::read_to_string(file.path()).expect("a file"), text);
        }
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_a_file_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = file_in(directory.path(), "").path().join("config.toml");

        let failure = ConfigurationFile { path }.set_default_profile("a").expect_err("a failure");

        assert_eq!(failure.code, Code::FileError);
        assert!(failure.message.contains("config.toml cannot be used"), "{}", failure.message);
    }

    #[test]
    fn a_name_that_is_no_name_of_a_profile_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = file_in(directory.path(), "");
        let failure = file.set_values("a b", &[]).expect_err("a failure");
        assert_eq!(failure.code, Code::InvalidArguments);
    }

    #[test]
    fn changes_at_the_same_time_are_all_kept() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = ConfigurationFile { path: directory.path().join("new/config.toml") };
        let names: Vec<_> = (0..20).map(|number| format!("p{number}")).collect();

        thread::scope(|scope| {
            for name in &names {
                let file = &file;
                scope.spawn(move || file.set_values(name, &[value_of("project", name)]).expect("set"));
            }
        });

        let configuration = file.read().expect("a configuration");
        assert_eq!(configuration.profiles.len(), names.len());
        let left: Vec<_> = fs::read_dir(directory.path().join("new")).expect("a directory").collect();
        assert_eq!(left.len(), 2, "{left:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_behind_a_link_is_changed() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("link.toml");
        let target = file_in(directory.path(), "");
        std::os::unix::fs::symlink(target.path(), &path).expect("a link");

        let file = ConfigurationFile { path };
        file.set_default_profile("a").expect("chosen");

        assert!(file.path().is_symlink());
        assert_eq!(target.read().expect("a configuration").default_profile.as_deref(), Some("a"));
    }
}
