//! The platform of a build, derived from its file name (supplement 16).

use crate::service::api::builds::BuildPlatform;

/// Returns the platform that the extension of `file_name` stands for, if it stands for exactly one.
pub fn platform_from_file_name(file_name: &str) -> Option<BuildPlatform> {
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
