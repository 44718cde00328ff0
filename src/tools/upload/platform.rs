//! The platform of a build by the name of its file (supplement 16).

use crate::service::api::builds::BuildPlatform;

/// `None`: the name does not say it.
pub fn by_name(file_name: &str) -> Option<BuildPlatform> {
    let (_, extension) = file_name.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "apk" => BuildPlatform::Android,
        "ipa" => BuildPlatform::IosNative,
        "exe" | "msi" => BuildPlatform::Windows,
        "dmg" | "pkg" => BuildPlatform::Macos,
        "deb" | "rpm" | "appimage" => BuildPlatform::Linux,
        _ => return None,
    })
}
