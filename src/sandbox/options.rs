//! Options of a sandbox.

/// Default size of a part, in bytes (service.md 10.4).
const PART_SIZE: u64 = 104_857_600;

/// How a sandbox behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Simulated seconds per real second. With 0 the clock stands still until it is advanced.
    pub speed: f64,
    /// Name that the deployment uses for the test-management system (`TAS_TMSYS_NAME`).
    pub tmsys_name: String,
    /// Size of each part of a build upload except the last, in bytes.
    pub part_size: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { speed: 60.0, tmsys_name: "tmsys".to_owned(), part_size: PART_SIZE }
    }
}
