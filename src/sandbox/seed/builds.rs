//! Builds in the build storage of the projects.

use std::sync::Arc;

use serde_json::json;

use super::{
    builders::{minutes_ago, owned},
    ids::{
        ARENA_BUILD_ANDROID, ARENA_BUILD_LINUX, BUILD_ANDROID, BUILD_ANDROID_EARLIER, BUILD_IOS,
        BUILD_PLAYSTATION, BUILD_WINDOWS,
    },
};
use crate::{
    sandbox::model::{build::StoredBuild, project::Project},
    service::api::Open,
};

/// Creates a build of a CI, `minutes` before the start of the simulated clock.
fn build(id: &str, name: &str, platform: &str, file_name: &str, minutes: i64) -> StoredBuild {
    StoredBuild {
        id: id.to_owned(),
        name: name.to_owned(),
        platform: platform.to_owned(),
        file_name: file_name.to_owned(),
        file_size: 734_003_200,
        status: String::new(),
        pinned: false,
        sdk: true,
        tags: Vec::new(),
        created: minutes_ago(minutes),
        description: None,
        details: None,
    }
}

impl StoredBuild {
    fn tagged(self, tags: &[&str]) -> Self {
        Self { tags: owned(tags), ..self }
    }

    fn of_commit(self, version: &str, number: u32, hash: &str) -> Self {
        Self { details: Some(details(version, number, hash)), ..self }
    }
}

fn details(version: &str, number: u32, hash: &str) -> Open {
    let short_hash: String = hash.chars().take(7).collect();

    Open::from_iter([
        (
            "vcs".to_owned(),
            json!({
                "type": "git", "provider": "gitlab", "branch": "main",
                "repository_url": "https://git.example/emberfall",
                "commit": {"hash": hash, "short_hash": short_hash, "author": "Ilir Hoxha"},
            }),
        ),
        ("ci".to_owned(), json!({"system": "gitlab-ci", "build_number": number.to_string()})),
        ("app".to_owned(), json!({"version": version, "version_code": number})),
        ("build".to_owned(), json!({"configuration": "release"})),
        ("upload".to_owned(), json!({"method": "api"})),
    ])
}

impl Project {
    fn add_builds(&mut self, builds: Vec<StoredBuild>) {
        let status = self.ready_status();
        for build in builds {
            let build = StoredBuild { status: status.to_owned(), ..build };
            self.builds.insert(build.id.clone(), Arc::new(build));
        }
    }
}

pub(super) fn add_demo(project: &mut Project) {
    let (earlier, latest) =
        ("4be1d0c7a95f27e3864b1fd2c05a7e98d3f6b214", "9fceb02d0ae598e95dc970b74767f19372d61af8");

    let nightly = |id, name, platform, file, minutes| {
        build(id, name, platform, file, minutes).tagged(&["nightly"]).of_commit("1.4.0", 413, latest)
    };

    project.add_builds(vec![
        build(BUILD_ANDROID_EARLIER, "Emberfall 1.4.0 nightly 412", "android", "emberfall-412.apk", 1_800)
            .tagged(&["nightly"])
            .of_commit("1.4.0", 412, earlier),
        nightly(BUILD_ANDROID, "Emberfall 1.4.0 nightly 413", "android", "emberfall-413.apk", 360),
        nightly(BUILD_WINDOWS, "Emberfall 1.4.0 nightly 413 (Windows)", "windows", "emberfall-413.zip", 360),
        nightly(BUILD_IOS, "Emberfall 1.4.0 nightly 413 (iOS)", "ios-native", "emberfall-413.ipa", 300),
        StoredBuild {
            pinned: true,
            sdk: false,
            description: Some("Sent to certification.".to_owned()),
            ..build(
                BUILD_PLAYSTATION,
                "Emberfall 1.4.0 certification 2",
                "playstation",
                "emberfall-cert-2.pkg",
                3_120,
            )
        },
    ]);
}

/// Storage capacity of `arena`, in bytes: little more than its builds take.
const ARENA_CAPACITY: u64 = 2_000_000_000;

pub(super) fn add_arena(project: &mut Project) {
    project.storage.capacity = ARENA_CAPACITY;
    project.add_builds(vec![
        build(ARENA_BUILD_LINUX, "Skyline Arena 0.9.2", "linux", "skyline-0.9.2.tar.gz", 2_000),
        build(ARENA_BUILD_ANDROID, "Skyline Arena Mobile 0.9.2", "android", "skyline-0.9.2.apk", 1_990),
    ]);
}
