//! Stores the key, and writes the other settings of the account into its profile.

use clap::{Arg, ArgMatches};

use crate::{
    cli::{
        accounts::{Accounts, key_failure},
        command_error::CommandError,
        confirmation::{ConsentAnswer, ask},
        notes::note,
    },
    client::{FoundKey, KeyPlace, KeyStoreError, StoredRecord},
    failure::Failure,
    settings::Settings,
};

/// Flag that says where the key is stored.
const STORE: &str = "store";

/// Words of the flag.
const PLACES: [(&str, KeyPlace); 2] = [("keychain", KeyPlace::Keychain), ("file", KeyPlace::File)];

/// Returns the flag that says where the key is stored.
pub(super) fn store_flag() -> Arg {
    let flag = Arg::new(STORE).long(STORE).value_name("PLACE").value_parser(PLACES.map(|(word, _)| word));
    flag.help("Where the key is stored; without this flag in the keychain, and if there is none, in a file after a question")
}

/// The place of the new key, and the earlier key that the new one has replaced.
pub(super) struct ReplacedKey {
    pub(super) place: KeyPlace,
    earlier: Option<(StoredRecord, KeyPlace)>,
}

/// Stores the key.
///
/// # Errors
/// The place cannot be used, or there is no keychain and the user has not chosen the file.
pub(super) async fn store_key(
    matches: &ArgMatches,
    accounts: &Accounts,
    account: &str,
    record: StoredRecord,
) -> Result<ReplacedKey, CommandError> {
    let name = account.to_owned();
    let found = accounts.with_keys(move |keys| keys.find(&name)).await;
    let earlier = match found {
        Ok(FoundKey::Found(earlier, place)) => Some((earlier, place)),
        // A store that cannot be read reports its error when the key is saved.
        Ok(FoundKey::Missing(_)) | Err(_) => None,
    };

    let place = store_new_key(matches, accounts, account, record).await?;
    Ok(ReplacedKey { place, earlier })
}

/// Stores the key in the place that the user chooses. Returns the place.
async fn store_new_key(
    matches: &ArgMatches,
    accounts: &Accounts,
    account: &str,
    record: StoredRecord,
) -> Result<KeyPlace, CommandError> {
    let word = matches.get_one::<String>(STORE);
    let chosen = PLACES.into_iter().find(|(known, _)| word.is_some_and(|word| word == known));
    let place = chosen.map_or(KeyPlace::Keychain, |(_, place)| place);

    match save(accounts, place, account, record.clone()).await {
        Ok(()) => Ok(place),
        Err(error) if chosen.is_none() && accepts_file(accounts, &error)? => {
            let saved = save(accounts, KeyPlace::File, account, record).await;
            saved.map(|()| KeyPlace::File).map_err(|error| key_failure(&error))
        }
        Err(error) => Err(key_failure(&error)),
    }
}

async fn save(
    accounts: &Accounts,
    place: KeyPlace,
    account: &str,
    record: StoredRecord,
) -> Result<(), KeyStoreError> {
    let account = account.to_owned();
    accounts.with_keys(move |keys| keys.save(place, &account, &record)).await
}

/// Returns whether the user accepts that the key is stored in a file, because the keychain has failed.
fn accepts_file(accounts: &Accounts, error: &KeyStoreError) -> std::io::Result<bool> {
    let path = accounts.keys.file().display();
    let statement = format!("{error}. The key can be stored in {path}, which only you can read");

    Ok(ask(&statement)? == ConsentAnswer::Yes)
}

/// Writes the address, the project and the settings of the flags into the profile, and makes the profile the default
/// one if there is none. Returns whether it is the default profile. If the profile cannot be written, the earlier key
/// is stored again.
///
/// # Errors
/// The configuration file cannot be changed.
pub(super) async fn write_profile(
    accounts: &Accounts,
    checked: &Settings,
    account: &str,
    project: Option<&str>,
    stored: ReplacedKey,
) -> Result<bool, CommandError> {
    let written = try_write_profile(accounts, checked, account, project);

    if written.is_err()
        && let Err(error) = restore_key(accounts, account, stored.earlier).await
    {
        note(&format!("note: the new key may stay stored: {error}"));
    }
    Ok(written?)
}

/// Puts the earlier key in the place of the new one, or removes the new one if there was none.
async fn restore_key(
    accounts: &Accounts,
    account: &str,
    earlier: Option<(StoredRecord, KeyPlace)>,
) -> Result<(), KeyStoreError> {
    let name = account.to_owned();
    accounts.with_keys(move |keys| keys.remove(&name)).await?;

    match earlier {
        Some((record, place)) => save(accounts, place, account, record).await,
        None => Ok(()),
    }
}

fn try_write_profile(
    accounts: &Accounts,
    checked: &Settings,
    account: &str,
    project: Option<&str>,
) -> Result<bool, Failure> {
    let directory = std::env::current_dir().unwrap_or_default();
    let file = &accounts.configuration.file;
    file.set_values(account, &checked.profile_values(project, &directory)?)?;

    let default = accounts.configuration.content.default_profile.as_deref();
    if default.is_none() {
        file.set_default_profile(account)?;
    }

    Ok(default.is_none_or(|default| default == account))
}
