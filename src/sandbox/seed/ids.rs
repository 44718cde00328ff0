//! Ids of the seed records. Tests and users use them to find a record in a known state.

/// Emberfall, an adventure for phones, computers and consoles.
pub const DEMO_PROJECT: &str = "demo";
/// Skyline Arena, a shooter: the integration is switched off, and bugs are not reviewed.
pub const ARENA_PROJECT: &str = "arena";

// Tests of `demo`, by what happens when they are run.

/// Passes.
pub const TEST_PASSES: &str = "424b1fee-9709-4315-85d9-5954058b4714";
/// Times out at the first attempt, passes at the second.
pub const TEST_FLAKY: &str = "70ad2ccd-03bb-405b-a04f-14a7b6d801b2";
/// Fails at step 2 and finds a bug.
pub const TEST_FAILS: &str = "126e79e2-e6ca-41d6-a1ad-bc4e10bfa287";
/// Is blocked at step 2.
pub const TEST_BLOCKED: &str = "d0e414d9-68ed-4851-9ae0-a30dfef64997";
/// Ends in an error at every attempt; not linked to a case.
pub const TEST_ERRORS: &str = "69168fc1-fff7-413d-96fc-df860b1ab892";
/// Is skipped.
pub const TEST_SKIPPED: &str = "5108d45a-3a0b-4176-82fd-502cdbf880d8";
/// Has two players; passes.
pub const TEST_TWO_PLAYERS: &str = "ee8f6454-f178-4ec7-b609-912fe2e7a724";
/// Has three players; the second fails.
pub const TEST_THREE_PLAYERS: &str = "8b2ca91d-90c0-4942-a2b0-3aa0e169d43b";
/// Explores, and finds several bugs.
pub const TEST_DISCOVERY: &str = "ceb309b8-8ec1-4b9e-873a-50eaddc1221e";
/// Carries out a task with the template variable `item`.
pub const TEST_TASK: &str = "e4a8e902-76fc-4fd7-abcb-b9cda4dbb9a7";

// Folders of `demo`.

/// `Levels`
pub const FOLDER_LEVELS: &str = "5eefa39c-eee5-4c7b-8db8-46c31a728415";
/// `Levels/World 1`
pub const FOLDER_WORLD_1: &str = "90c79624-35b6-46d8-9b24-c0402596d24a";
/// `Levels/World 2`
pub const FOLDER_WORLD_2: &str = "ec077ad4-aec7-44b1-a8b4-406c0190f12c";
/// `Menus`
pub const FOLDER_MENUS: &str = "dd9eb009-40f7-4ae5-9789-8e6e4f990940";
/// `Online`
pub const FOLDER_ONLINE: &str = "b5d5e8a3-6cc6-4f3d-b09f-6a453fba8475";

// Deployment configs of `demo`.

/// Windows, build storage.
pub const CONFIG_WINDOWS: &str = "bb2adece-e2ad-49af-a023-29c3643ce7f5";
/// Three Android phones, multi-device, build storage.
pub const CONFIG_PHONES: &str = "26826e3d-682b-4c41-92ec-333c534526d9";
/// Two Android phones, one of them broken, multi-device.
pub const CONFIG_PHONES_ONE_BROKEN: &str = "801355eb-05d9-4d51-a25f-f36ce5fe4bfa";
/// Two Android phones, both broken, multi-device.
pub const CONFIG_PHONES_ALL_BROKEN: &str = "48425120-21f1-44e2-8bf2-b01c26282366";
/// A private Android phone.
pub const CONFIG_PRIVATE_PHONE: &str = "86db12bb-89d6-4221-bf84-934e09ee1846";
/// Another private device.
pub const CONFIG_PRIVATE_TABLET: &str = "27c059b8-6d14-4590-8f22-4e163df5316f";
/// iOS, build storage.
pub const CONFIG_IPHONE: &str = "69377157-94d8-43a6-9340-586349ad7eae";
/// `PlayStation`, build storage.
pub const CONFIG_PLAYSTATION: &str = "b96cc65d-21da-4197-877f-15a3de836a00";
/// Windows, from a direct address: takes no build.
pub const CONFIG_DIRECT_URL: &str = "6bbb9d0d-2409-45b9-94e2-cdd25e786c44";
/// Linux; the build source is null, and it takes no build.
pub const CONFIG_UNKNOWN_SOURCE: &str = "edfb6e83-b531-4ad8-9879-147d0ad83440";

// Agent configs of `demo`.

/// Careful.
pub const AGENT_CAREFUL: &str = "e6c18431-290b-4ebb-a0ee-b1d0d5aca2e3";
/// Curious.
pub const AGENT_CURIOUS: &str = "8d2b3b1d-d2c7-49c7-af39-0b80b81a4d09";

// Credential kinds of `demo`.

/// Of the shop; exclusive.
pub const CREDENTIALS_SHOP: &str = "f708192a-3b4c-4d5e-bf60-718293041526";
/// Of the cloud saves.
pub const CREDENTIALS_CLOUD: &str = "1f6a7c52-40de-4c1b-9b7e-65f1d2c3a894";

// Shared step collections of `demo`.

/// Used by [`TEST_FAILS`].
pub const STEPS_START_LEVEL: &str = "ssc_start_level_1";
/// Used by [`TEST_BLOCKED`].
pub const STEPS_SIGN_IN: &str = "ssc_sign_in";
/// Used by no test.
pub const STEPS_UNUSED: &str = "ssc_leave_session";

// Builds of `demo`.

/// Newest for Android.
pub const BUILD_ANDROID: &str = "5f5cf9b5-7e80-4ebb-be07-f0d4bdd839ec";
/// Earlier, for Android.
pub const BUILD_ANDROID_EARLIER: &str = "0016157b-7e26-4277-b803-02ab60676871";
/// For Windows.
pub const BUILD_WINDOWS: &str = "e1bc3319-334c-4672-9365-3ed6872edb3f";
/// For iOS.
pub const BUILD_IOS: &str = "9cea59f5-6289-44bd-981c-b08114e43d3c";
/// For `PlayStation`.
pub const BUILD_PLAYSTATION: &str = "66ff5171-b5f5-4b39-b170-abf395c027a5";

// Plans of `demo`.

/// Four tests, no extra slots.
pub const PLAN_SMOKE: &str = "8329bf5f-2912-4f3e-8b06-a97011e21eac";
/// Cross-platform: extra slots 2 and 3.
pub const PLAN_CROSS_PLATFORM: &str = "aa2fd114-0ad1-418c-a1b5-c2a6b6c93e80";

// Jobs of `demo`.

/// Completed, passed.
pub const JOB_PASSED: &str = "3126ec62-851c-4a5f-bce1-dd354c0912de";
/// Completed, failed.
pub const JOB_FAILED: &str = "c6d93b34-4d30-49de-b6d9-07f35d4ccea7";
/// Completed at the second attempt.
pub const JOB_FLAKY: &str = "3763d215-b5cd-4614-96cb-8f0f221acea1";
/// Running at the start clock.
pub const JOB_RUNNING: &str = "fc3a0611-66b1-46a6-ac1c-51f6f144ac87";
/// Queued at the start clock.
pub const JOB_QUEUED: &str = "185c547c-b071-42dc-a43c-a05f80719424";
/// Stopped by a key.
pub const JOB_STOPPED: &str = "ea26706d-1702-4fbe-8f57-398b3819e141";
/// Rejected: no device.
pub const JOB_REJECTED: &str = "e701a9df-17a2-4c93-b881-5332156ffc2a";

// Runs of `demo`.

/// Passed.
pub const RUN_PASSED: &str = "hui4d9ilmby";
/// Failed at step 2, with a bug.
pub const RUN_FAILED: &str = "ezhzy9x6eq4";
/// First attempt of [`JOB_FLAKY`].
pub const RUN_TIMED_OUT: &str = "bid8fabwwlf";
/// Blocked.
pub const RUN_BLOCKED: &str = "4xmakns9twg";
/// Ended in an error.
pub const RUN_ERROR: &str = "bvmsu0w6ueq";
/// Skipped.
pub const RUN_SKIPPED: &str = "8rt0zxy5lr4";
/// Two players.
pub const RUN_TWO_PLAYERS: &str = "atfk830fu80";
/// Three players, the second failed.
pub const RUN_THREE_PLAYERS: &str = "ih5w5636edb";
/// Found several bugs.
pub const RUN_DISCOVERY: &str = "hikt0u031x0";
/// A task.
pub const RUN_TASK: &str = "z6ts34uu4gk";
/// Stopped.
pub const RUN_STOPPED: &str = "1xqwca9pgfu";
/// Running at the start clock.
pub const RUN_RUNNING: &str = "s3sank19vdh";

// Executions of `demo`.

/// Completed.
pub const EXECUTION_COMPLETED: &str = "4ea293c9-1c5e-4484-9aa0-aaa3664e6f27";
/// In progress at the start clock.
pub const EXECUTION_IN_PROGRESS: &str = "6dce3d19-5134-4267-897c-7636f2b678c5";
/// Queued at the start clock.
pub const EXECUTION_QUEUED: &str = "9a5b039a-4842-4101-9534-06bcfde2d02a";

// Bugs of `demo`.

/// Reviewed; occurs in [`RUN_FAILED`].
pub const BUG_ACTIVE: &str = "bug_7h2k9";
/// Reviewed, critical.
pub const BUG_CRITICAL: &str = "bug_9d3rt";
/// Reviewed; its reports are suppressed.
pub const BUG_AUDIO: &str = "bug_2k8wp";
/// Reviewed.
pub const BUG_VISUAL: &str = "bug_4m1xq";
/// Reviewed and archived.
pub const BUG_ARCHIVED: &str = "bug_c5n0z";
/// Detected, and not reviewed yet: only in the bugs of its run.
pub const BUG_UNREVIEWED: &str = "bug_u6e4a";

// Records of `arena`.

/// Passes.
pub const ARENA_TEST_PASSES: &str = "04391872-9e10-412f-928e-0ebe7e6aa907";
/// Fails at step 2 and finds a bug.
pub const ARENA_TEST_FAILS: &str = "8311de74-1c1a-42bf-a96e-3b242b07ec84";
/// Two players; blocked.
pub const ARENA_TEST_TWO_PLAYERS: &str = "ec9c3389-fdee-46d4-ad43-07ac2fd3b169";
/// Explores.
pub const ARENA_TEST_DISCOVERY: &str = "fac67a4b-00b8-4f7d-a294-dd396419610c";
/// `Matches`
pub const ARENA_FOLDER_MATCHES: &str = "452b1c6c-06d4-42bb-a69e-376ceb914564";
/// Linux, build storage.
pub const ARENA_CONFIG_LINUX: &str = "556531cf-ee71-4d44-901a-6a9622357c65";
/// Two Android tablets, one of them broken, multi-device.
pub const ARENA_CONFIG_TABLETS: &str = "f8419d4b-d413-430c-9154-f3eba0e59875";
/// Xbox.
pub const ARENA_CONFIG_XBOX: &str = "deae1e88-56a1-47e5-b27e-371c27eec589";
/// Agent config.
pub const ARENA_AGENT: &str = "e6e9d600-5a30-4f30-8892-cf3c6d191bcf";
/// Credential kind.
pub const ARENA_CREDENTIALS: &str = "70c1d95e-2b84-4f36-8d0a-93e6b7f1a25c";
/// Shared step collection, used by [`ARENA_TEST_TWO_PLAYERS`].
pub const ARENA_STEPS_DUEL: &str = "ssc_duel";
/// For Linux.
pub const ARENA_BUILD_LINUX: &str = "ee8988a0-1bef-4f15-a240-6d4281690bec";
/// For Android.
pub const ARENA_BUILD_ANDROID: &str = "98fefa68-34b6-44cd-af30-c7d7e651e296";
/// Two tests.
pub const ARENA_PLAN: &str = "d744494d-160f-491d-a7eb-fdc1b584f840";
/// Completed.
pub const ARENA_EXECUTION: &str = "fde15c84-007c-4ddf-b394-e5e4049275f9";
/// Completed, passed.
pub const ARENA_JOB_PASSED: &str = "c9e20a39-6ea6-460f-8e08-c2d3ff64ae6d";
/// Completed, failed.
pub const ARENA_JOB_FAILED: &str = "72e194fc-98e6-4ab0-b7e7-dca1f1b5fc3d";
/// Running at the start clock.
pub const ARENA_JOB_RUNNING: &str = "277a5b88-e88a-4153-bf53-edc9a2181ef7";
/// Passed.
pub const ARENA_RUN_PASSED: &str = "3n3s2y7n62q";
/// Failed.
pub const ARENA_RUN_FAILED: &str = "dyged3szwg6";
/// Explored.
pub const ARENA_RUN_DISCOVERY: &str = "b2c0ijjlrzn";
/// Running at the start clock.
pub const ARENA_RUN_RUNNING: &str = "b1k2zv53u68";
/// Detected in [`ARENA_RUN_FAILED`]; the project has no bug review.
pub const ARENA_BUG: &str = "bug_a1r3n";
