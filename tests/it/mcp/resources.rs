//! Records as resources: the lists, the contents, and failed reads.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    service::Service,
};

mod failures;
mod lists;
mod reading;
mod uris;

/// Opens a session with this key and these variables.
async fn open(key: &str, variables: &[(&str, &str)]) -> (Arc<Service>, Host) {
    let Session { service, host, .. } = Fixture::new().key(key).variables(variables).open().await;
    (service, host)
}

impl Host {
    /// Reads a resource and returns its content.
    async fn read(&mut self, uri: &str) -> Value {
        let answer = self.request("resources/read", json!({"uri": uri})).await;
        let contents = &answer["result"]["contents"];

        assert_eq!(contents.as_array().map(Vec::len), Some(1), "{uri}: {answer}");
        assert_eq!(
            (&contents[0]["uri"], &contents[0]["mimeType"]),
            (&json!(uri), &json!("application/json"))
        );

        serde_json::from_str(contents[0]["text"].as_str().expect("a text")).expect("JSON")
    }

    /// Reads a resource, which must fail, and returns the protocol error.
    async fn read_failure(&mut self, uri: &str) -> Value {
        let answer = self.request("resources/read", json!({"uri": uri})).await;
        assert!(answer["error"].is_object(), "{uri}: {answer}");
        answer["error"].clone()
    }

    /// Returns the listed templates.
    async fn templates(&mut self) -> Vec<String> {
        let answer = self.request("resources/templates/list", json!({})).await;
        let listed = answer["result"]["resourceTemplates"].as_array().expect("a list");
        listed.iter().map(|one| one["uriTemplate"].as_str().expect("a template").to_owned()).collect()
    }
}
