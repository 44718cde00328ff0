//! Records as resources: what is listed, what is read, and how reading fails.

use serde_json::{Value, json};

use crate::support::{host::Host, service::Service};

mod addresses;
mod failing;
mod lists;
mod reading;

/// A server in front of a sandbox, with this key and these variables.
async fn open(key: &str, variables: &[(&str, &str)]) -> (Service, Host) {
    let service = Service::start().await;
    let host = Host::open(&service.settings(key, variables)).await;
    (service, host)
}

impl Host {
    /// Reads a resource that is there; what it says.
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

    /// Reads a resource in vain; the protocol error.
    async fn read_in_vain(&mut self, uri: &str) -> Value {
        let answer = self.request("resources/read", json!({"uri": uri})).await;
        assert!(answer["error"].is_object(), "{uri}: {answer}");
        answer["error"].clone()
    }

    /// The templates that are listed.
    async fn templates(&mut self) -> Vec<String> {
        let answer = self.request("resources/templates/list", json!({})).await;
        let listed = answer["result"]["resourceTemplates"].as_array().expect("a list");
        listed.iter().map(|one| one["uriTemplate"].as_str().expect("a template").to_owned()).collect()
    }
}
