//! Arguments that are refused before any request.

use serde_json::json;
use tas_mcp::{
    sandbox::keys,
    service::api::builds::BuildPlatform,
    tools::upload::{PLATFORMS, platform_from_file_name},
};

use super::{bytes, fixture};

#[tokio::test]
async fn violations_of_rules_are_reported_before_any_request() {
    let mut session = fixture().open().await;
    session.write("game.apk", b"abc");

    let long = "ä".repeat(256);
    let cases = [
        (json!({}), "is required"),
        (json!({"path": "game.apk", "name": long}), "must have at most 255 characters, got 256"),
        (json!({"path": "game.apk", "tags": ["t".repeat(51)]}), "must have at most 50 characters, got 51"),
        (json!({"path": "game.apk", "upload_timeout": 1_441}), "must be from 1 to 1440, got 1441"),
        (json!({"path": "game.apk", "deletion_policy": "oldest"}), "requires `auto_delete`"),
        (
            json!({"path": "game.apk", "details": {"vcs": {"type": "cvs"}}}),
            "must be one of git, mercurial, svn",
        ),
    ];

    for (arguments, rule) in cases {
        let said = session.host.violations("upload_build", arguments.clone()).await;
        assert!(said.len() == 1 && said[0].ends_with(rule), "{arguments}: {said:?}");
    }

    assert_eq!(session.service.requests().await, [""; 0]);
    assert_eq!(session.states(), [""; 0]);
}

#[tokio::test]
async fn the_platform_is_required_if_the_file_name_does_not_show_it() {
    let mut session = fixture().open().await;
    session.write("game.zip", b"abc");

    let said = session.host.violations("upload_build", json!({"path": "game.zip"})).await;

    assert_eq!(
        said,
        [format!(
            "platform: is required, one of {}: it cannot be derived from the file name `game.zip`",
            PLATFORMS.join(", ")
        )]
    );
    assert_eq!(session.service.requests().await, [""; 0]);

    let build = session.host.succeed("upload_build", json!({"path": "game.zip", "platform": "xbox"})).await;
    let record = session.host.succeed("get_build", json!({"build_id": build["build_id"]})).await;

    assert_eq!(record["platform"], "xbox");
}

/// See service.md 16.
#[test]
fn the_platform_follows_from_the_extension() {
    let known = [
        ("a.apk", BuildPlatform::Android),
        ("a.b.APK", BuildPlatform::Android),
        ("a.ipa", BuildPlatform::IosNative),
        ("a.exe", BuildPlatform::Windows),
        ("a.msi", BuildPlatform::Windows),
        ("a.dmg", BuildPlatform::Macos),
        ("a.pkg", BuildPlatform::Macos),
        ("a.deb", BuildPlatform::Linux),
        ("a.rpm", BuildPlatform::Linux),
        ("a.AppImage", BuildPlatform::Linux),
    ];

    for (name, platform) in known {
        assert_eq!(platform_from_file_name(name), Some(platform), "{name}");
    }

    for name in ["a", "apk", "a.app", "a.zip", "a.tar.gz", "a.apk.zip", ""] {
        assert_eq!(platform_from_file_name(name), None, "{name}");
    }
}

#[tokio::test]
async fn automatic_deletion_needs_confirmation() {
    let session = fixture().open().await;
    session.write("game.apk", &bytes(2_500));

    let mut host = session.another_host(keys::ARENA, &[]).await;
    let arguments_with_deletion =
        json!({"path": "game.apk", "auto_delete": true, "deletion_policy": "oldest"});

    let before = session.service.writes().await.len();
    let error = host.fail("upload_build", arguments_with_deletion.clone()).await;

    assert_eq!(error["code"], "confirmation_required");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("permanently")), "{error}");
    assert_eq!(session.service.writes().await.len(), before);

    let mut confirmed = arguments_with_deletion;
    confirmed["confirm"] = json!(true);
    host.succeed("upload_build", confirmed).await;
}

#[tokio::test]
async fn a_refused_initiation_is_reported_and_leaves_nothing() {
    let session = fixture().open().await;
    session.write("game.apk", b"abc");

    for (key, code) in [(keys::READ_ONLY, "permission_denied"), ("svc_wrong", "unauthenticated")] {
        let mut host = session.another_host(key, &[]).await;
        assert_eq!(host.fail("upload_build", json!({"path": "game.apk"})).await["code"], code);
    }

    assert_eq!((session.leftovers().await, session.puts().await), ((0, 0), vec![]));
    assert_eq!(session.states(), [""; 0]);
}
