//! Embeds the files in `tools/`: as compact JSON, cut where the text depends on what a server offers. Links a release binary
//! so that it starts fast.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Map, Value};

/// Folder with one file for each tool, as hosts receive the tool in global scope from a server that offers every tool.
const TOOLS: &str = "tools";

/// Folder in [`TOOLS`] with the schemas that the arguments of the tools are checked against, in files of the same names.
const ARGUMENTS: &str = "arguments";

/// Folder in [`TOOLS`] with the complete schemas of the answers of the tools, in files of the same names.
const ANSWERS: &str = "answers";

/// The argument that tools have in global scope only, the last one of each tool.
const PROJECT_ID: &str = "project_id";

/// Patterns of the functions that a server executes from its start, one in each line. `packaging/function-order` writes them.
const FUNCTION_ORDER: &str = "src/function_order.txt";

/// Flag of the compiler that gives functions names of the current form, and the beginning of a name of the older form.
const CURRENT_NAMES: &str = "symbol-mangling-version=v0";
const OLDER_NAME: &str = "_ZN";

/// The library that unwinds the stack after a panic.
const UNWINDER: &str = "gcc_eh";

/// The first version of the GNU C library that reads a packed table of relocations: major and minor number.
const PACKED_RELOCATIONS: (u32, u32) = (2, 36);

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    println!("cargo::rerun-if-changed={TOOLS}");
    println!("cargo::rerun-if-changed={FUNCTION_ORDER}");
    let output = PathBuf::from(variable("OUT_DIR").ok_or("Cargo has set no OUT_DIR")?);

    let files = [json_files("")?, json_files("http/")?].concat();
    let names: BTreeSet<_> = files.iter().filter_map(|file| Path::new(file).file_stem()?.to_str()).collect();
    let entries = files.iter().map(|file| entry(file, &names)).collect::<Outcome<Vec<_>>>()?;

    let table = format!("pub(super) const EMBEDDED_TOOLS: &[EmbeddedTool] = &[{}];\n", entries.concat());
    fs::write(output.join("embedded_tools.rs"), table)?;

    if is_release_for_linux() {
        add_linker_options(&output)?;
    }

    Ok(())
}

/// Returns the environment variable `name`, or `None` if Cargo has not set it.
#[expect(clippy::disallowed_methods, reason = "Cargo passes facts about the build in the environment")]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// Returns whether this is a release build for Linux with the default linker (GNU ld or LLVM lld). A linker that the user
/// selects may refuse a linker script, as mold does.
fn is_release_for_linux() -> bool {
    let selects_linker = variable("RUSTC_LINKER").is_some() || has_compiler_flag("link");

    is_set("PROFILE", "release") && is_set("CARGO_CFG_TARGET_OS", "linux") && !selects_linker
}

/// Returns whether Cargo has set the environment variable `name` to `value`.
fn is_set(name: &str, value: &str) -> bool {
    variable(name).as_deref() == Some(value)
}

/// Returns whether a flag of the compiler contains `text`.
fn has_compiler_flag(text: &str) -> bool {
    variable("CARGO_ENCODED_RUSTFLAGS").is_some_and(|flags| flags.contains(text))
}

/// Adds the options of the linker. `output` is the directory for the linker script.
fn add_linker_options(output: &Path) -> Outcome<()> {
    let script = output.join("function_order.ld");
    fs::write(&script, linker_script(&fs::read_to_string(FUNCTION_ORDER)?))?;
    println!("cargo::rustc-link-arg-bins=-T{}", script.display());

    // The flag `-Crelro-level=partial` in `.cargo/config.toml` is for the compiler only. With this option, the loader makes the
    // table of addresses read-only before the program starts.
    println!("cargo::rustc-link-arg-bins=-Wl,-z,now");

    let is_host = variable("HOST").is_some_and(|host| Some(host) == variable("TARGET"));
    if is_host && is_set("CARGO_CFG_TARGET_ENV", "gnu") {
        if has_static_unwinder() {
            // A shared library of the unwinder would add 0.1 ms to each start.
            println!("cargo::rustc-link-lib=static:-bundle={UNWINDER}");
        }
        if c_library_version() >= Some(PACKED_RELOCATIONS) {
            // Without this option, each start would read 0.5 MB of relocations, which takes 0.15 ms.
            println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        }
    }

    Ok(())
}

/// Returns whether the linker finds the unwinder as a static library. Only targets with the GNU C library use this unwinder.
fn has_static_unwinder() -> bool {
    // The compiler prints the path of a library that exists, and the name of any other.
    let path = output_of("cc", &format!("-print-file-name=lib{UNWINDER}.a"));
    path.is_some_and(|path| Path::new(&path).is_absolute())
}

/// Returns the version of the GNU C library of this computer: major and minor number.
fn c_library_version() -> Option<(u32, u32)> {
    let version = output_of("getconf", "GNU_LIBC_VERSION")?;
    let (major, minor) = version.strip_prefix("glibc ")?.split_once('.')?;
    let minor = minor.split('.').next()?;

    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Returns the standard output of a command, or `None` if the command cannot be started.
fn output_of(command: &str, argument: &str) -> Option<String> {
    let output = Command::new(command).arg(argument).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns a linker script that places the functions of these patterns before all others. The kernel maps a file in pieces of
/// 64 KiB: a server whose functions lie together needs half of the memory.
fn linker_script(patterns: &str) -> String {
    // The flag in `.cargo/config.toml` gives all functions names of the current form.
    let has_older_names = !has_compiler_flag(CURRENT_NAMES);
    let used = patterns.lines().filter(|pattern| has_older_names || !pattern.starts_with(OLDER_NAME));
    let first: Vec<_> = used.map(|pattern| format!("*(.text.{pattern} .text.unlikely.{pattern})")).collect();

    format!("SECTIONS {{ .text : {{\n{}\n*(.text .text.*)\n}} }}\nINSERT AFTER .init;\n", first.join("\n"))
}

/// Returns the paths of the JSON files of a folder, relative to [`TOOLS`], in alphabetical order.
fn json_files(folder: &str) -> Outcome<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(Path::new(TOOLS).join(folder))? {
        let path = entry?.path();
        if let (Some(name), Some("json")) = (path.file_name(), path.extension().and_then(OsStr::to_str)) {
            files.push(format!("{folder}{}", name.to_string_lossy()));
        }
    }

    files.sort();

    Ok(files)
}

/// Returns the Rust code that creates the `EmbeddedTool` of one file. A tool without the schemas of its arguments and its answer
/// is left out: the program generates what it needs, until the files are written.
fn entry(file: &str, names: &BTreeSet<&str>) -> Outcome<String> {
    let [arguments, answer] = [ARGUMENTS, ANSWERS].map(|folder| Path::new(TOOLS).join(folder).join(file));
    if !arguments.exists() || !answer.exists() {
        return Ok(String::new());
    }

    let tool = object(&Path::new(TOOLS).join(file))?;
    let path = file.trim_end_matches(".json");
    let description = tool.get("description").and_then(Value::as_str).unwrap_or_default();
    let arguments = Value::Object(object(&arguments)?).to_string();
    let answer = Value::Object(object(&answer)?).to_string();

    let mut published = Cutter { names, fixed: String::new(), segments: Vec::new() };
    published.add_tool(&tool);
    let segments = published.finish();

    Ok(format!(
        "EmbeddedTool {{ path: {path:?}, description: {description:?}, arguments: {arguments:?}, answer: {answer:?}, \
         published: &[{segments}] }},\n"
    ))
}

fn object(file: &Path) -> Outcome<Map<String, Value>> {
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

/// Cuts the JSON of a tool into the segments of `src/service/embedded.rs`.
struct Cutter<'a> {
    /// The names of all tools.
    names: &'a BTreeSet<&'a str>,
    /// The text since the last cut.
    fixed: String,
    /// The segments before the last cut, each as a Rust expression.
    segments: Vec<String>,
}

impl Cutter<'_> {
    fn add_tool(&mut self, tool: &Map<String, Value>) {
        self.add_members(tool, |cutter, name, value| match (name, value) {
            ("description", Value::String(text)) => cutter.add_text("Description", text),
            ("inputSchema", schema) => cutter.add_schema(schema),
            _ => cutter.fixed.push_str(&value.to_string()),
        });
    }

    /// Adds a part of the schema of the arguments.
    fn add_schema(&mut self, schema: &Value) {
        let Value::Object(members) = schema else {
            self.fixed.push_str(&schema.to_string());
            return;
        };

        self.add_members(members, |cutter, name, value| match (name, value) {
            ("description", Value::String(text)) => cutter.add_text("ArgumentDescription", text),
            _ => cutter.add_schema(value),
        });
    }

    fn add_members(&mut self, members: &Map<String, Value>, add_value: impl Fn(&mut Self, &str, &Value)) {
        self.fixed.push('{');
        for (index, (name, value)) in members.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            let start = format!("{separator}{}:", Value::from(name.as_str()));

            if name == PROJECT_ID {
                self.cut();
                self.add_segment("ProjectArgument", &format!("{start}{value}"));
            } else {
                self.fixed.push_str(&start);
                add_value(self, name, value);
            }
        }
        self.fixed.push('}');
    }

    /// Adds a description. Only one that names a tool in backticks depends on what a server offers.
    fn add_text(&mut self, kind: &str, text: &str) {
        let is_name_character = |character: char| character.is_ascii_lowercase() || character == '_';
        let mut quoted = text.split('`').filter_map(|part| part.split(|one| !is_name_character(one)).next());

        if quoted.any(|word| self.names.contains(word)) {
            self.cut();
            self.add_segment(kind, text);
        } else {
            self.fixed.push_str(&Value::from(text).to_string());
        }
    }

    fn cut(&mut self) {
        let fixed = std::mem::take(&mut self.fixed);
        self.add_segment("Fixed", &fixed);
    }

    fn add_segment(&mut self, kind: &str, text: &str) {
        self.segments.push(format!("Segment::{kind}({text:?}), "));
    }

    fn finish(mut self) -> String {
        self.cut();
        self.segments.concat()
    }
}
