//! Options of a sandbox.

/// Usual size of a part (supplement 10.4).
const PART_SIZE: u64 = 104_857_600;

/// How a sandbox behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Simulated seconds for each real one; 0: the clock stands still until it is advanced.
    pub speed: f64,
    /// Word that the deployment uses for the test-management system (`TAS_TMSYS_NAME`).
    pub tmsys_name: String,
    /// Bytes of each part of a build upload but the last.
    pub part_size: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { speed: 60.0, tmsys_name: "tmsys".to_owned(), part_size: PART_SIZE }
    }
}
