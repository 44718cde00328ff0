//! The file with keys.

use std::{fs, thread};

use tas_mcp::client::{ApiKey, KeyPlace, KeyStore, StoredRecord};

fn store() -> (tempfile::TempDir, KeyStore) {
    let directory = tempfile::tempdir().expect("a directory");
    let store = KeyStore::in_directory(&directory.path().join("a/tas-mcp"));
    save(&store, "a");
    (directory, store)
}

fn save(store: &KeyStore, account: &str) {
    let key = ApiKey::parse("svc_abcdef").expect("a key");
    let record = StoredRecord { key, addresses: vec!["https://tas.example/api/v1".to_owned()] };
    store.save(KeyPlace::File, account, &record).expect("written");
}

#[test]
fn an_unusable_file_is_an_error_that_shows_no_key() {
    for text in ["", "{\"a\": \"svc_planted\"}", "svc_planted", "{\"a\": {\"key\": \"svc_planted\"}}"] {
        let (_directory, store) = store();
        fs::write(store.file(), text).expect("written");

        let error = store.find("a").expect_err("an error").to_string();
        assert!(error.contains("keys.json") && !error.contains("planted"), "{error}");
    }
}

#[test]
fn simultaneous_changes_lose_nothing() {
    let (_directory, store) = store();
    thread::scope(|scope| ["b", "c", "d"].map(|account| scope.spawn(|| save(&store, account))).map(drop));

    assert!(["a", "b", "c", "d"].iter().all(|account| store.find(account).expect("readable").is_some()));
}
