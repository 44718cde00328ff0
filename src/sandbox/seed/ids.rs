//! Ids of the seed records. Tests and users use them to find a record in a known state.

/// Declares the constants. The text after an id becomes its documentation.
macro_rules! ids {
    ($($name:ident = $id:literal, $meaning:literal;)*) => {
        $(#[doc = $meaning] pub const $name: &str = $id;)*
    };
}

ids! {
    DEMO_PROJECT = "demo", "Emberfall, an adventure for phones, computers and consoles.";
    ARENA_PROJECT = "arena", "Skyline Arena, a shooter: the integration is switched off, and bugs are not reviewed.";

    // Tests of `demo`, by what happens when they are run.
    TEST_PASSES = "424b1fee-9709-4315-85d9-5954058b4714", "Passes.";
    TEST_FLAKY = "70ad2ccd-03bb-405b-a04f-14a7b6d801b2", "Times out at the first attempt, passes at the second.";
    TEST_FAILS = "126e79e2-e6ca-41d6-a1ad-bc4e10bfa287", "Fails at step 2 and finds a bug.";
    TEST_BLOCKED = "d0e414d9-68ed-4851-9ae0-a30dfef64997", "Is blocked at step 2.";
    TEST_ERRORS = "69168fc1-fff7-413d-96fc-df860b1ab892", "Ends in an error at every attempt; not linked to a case.";
    TEST_SKIPPED = "5108d45a-3a0b-4176-82fd-502cdbf880d8", "Is skipped.";
    TEST_TWO_PLAYERS = "ee8f6454-f178-4ec7-b609-912fe2e7a724", "Has two players; passes.";
    TEST_THREE_PLAYERS = "8b2ca91d-90c0-4942-a2b0-3aa0e169d43b", "Has three players; the second fails.";
    TEST_DISCOVERY = "ceb309b8-8ec1-4b9e-873a-50eaddc1221e", "Explores, and finds several bugs.";
    TEST_TASK = "e4a8e902-76fc-4fd7-abcb-b9cda4dbb9a7", "Carries out a task with the template variable `item`.";

    // Folders of `demo`.
    FOLDER_LEVELS = "5eefa39c-eee5-4c7b-8db8-46c31a728415", "`Levels`";
    FOLDER_MENUS = "dd9eb009-40f7-4ae5-9789-8e6e4f990940", "`Menus`";

    // Deployment configs of `demo`.
    CONFIG_WINDOWS = "bb2adece-e2ad-49af-a023-29c3643ce7f5", "Windows, build storage.";
    CONFIG_PHONES = "26826e3d-682b-4c41-92ec-333c534526d9", "Three Android phones, multi-device, build storage.";
    CONFIG_PHONES_ONE_BROKEN = "801355eb-05d9-4d51-a25f-f36ce5fe4bfa", "Two Android phones, one of them broken, multi-device.";
    CONFIG_PHONES_ALL_BROKEN = "48425120-21f1-44e2-8bf2-b01c26282366", "Two Android phones, both broken, multi-device.";
    CONFIG_PRIVATE_PHONE = "86db12bb-89d6-4221-bf84-934e09ee1846", "A private Android phone.";
    CONFIG_IPHONE = "69377157-94d8-43a6-9340-586349ad7eae", "iOS, build storage.";
    CONFIG_PLAYSTATION = "b96cc65d-21da-4197-877f-15a3de836a00", "`PlayStation`, build storage.";
    CONFIG_DIRECT_URL = "6bbb9d0d-2409-45b9-94e2-cdd25e786c44", "Windows, from a direct address: takes no build.";
    CONFIG_UNKNOWN_SOURCE = "edfb6e83-b531-4ad8-9879-147d0ad83440", "Linux; the build source is null, and it takes no build.";

    // Agent configs of `demo`.
    AGENT_CAREFUL = "e6c18431-290b-4ebb-a0ee-b1d0d5aca2e3", "Careful.";
    AGENT_CURIOUS = "8d2b3b1d-d2c7-49c7-af39-0b80b81a4d09", "Curious.";

    // Shared step collections of `demo`.
    STEPS_START_LEVEL = "ssc_start_level_1", "Used by [`TEST_FAILS`].";
    STEPS_SIGN_IN = "ssc_sign_in", "Used by [`TEST_BLOCKED`].";
    STEPS_UNUSED = "ssc_leave_session", "Used by no test.";

    // Builds of `demo`.
    BUILD_ANDROID = "5f5cf9b5-7e80-4ebb-be07-f0d4bdd839ec", "Newest for Android.";
    BUILD_ANDROID_EARLIER = "0016157b-7e26-4277-b803-02ab60676871", "Earlier, for Android.";
    BUILD_WINDOWS = "e1bc3319-334c-4672-9365-3ed6872edb3f", "For Windows.";
    BUILD_IOS = "9cea59f5-6289-44bd-981c-b08114e43d3c", "For iOS.";
    BUILD_PLAYSTATION = "66ff5171-b5f5-4b39-b170-abf395c027a5", "For `PlayStation`.";

    // Plans of `demo`.
    PLAN_SMOKE = "8329bf5f-2912-4f3e-8b06-a97011e21eac", "Four tests, no extra slots.";
    PLAN_CROSS_PLATFORM = "aa2fd114-0ad1-418c-a1b5-c2a6b6c93e80", "Cross-platform: extra slots 2 and 3.";

    // Jobs of `demo`.
    JOB_PASSED = "3126ec62-851c-4a5f-bce1-dd354c0912de", "Completed, passed.";
    JOB_FAILED = "c6d93b34-4d30-49de-b6d9-07f35d4ccea7", "Completed, failed.";
    JOB_FLAKY = "3763d215-b5cd-4614-96cb-8f0f221acea1", "Completed at the second attempt.";
    JOB_RUNNING = "fc3a0611-66b1-46a6-ac1c-51f6f144ac87", "Running at the start clock.";
    JOB_QUEUED = "185c547c-b071-42dc-a43c-a05f80719424", "Queued at the start clock.";
    JOB_STOPPED = "ea26706d-1702-4fbe-8f57-398b3819e141", "Stopped by a key.";
    JOB_REJECTED = "e701a9df-17a2-4c93-b881-5332156ffc2a", "Rejected: no device.";

    // Runs of `demo`.
    RUN_PASSED = "hui4d9ilmby", "Passed.";
    RUN_FAILED = "ezhzy9x6eq4", "Failed at step 2, with a bug.";
    RUN_TIMED_OUT = "bid8fabwwlf", "First attempt of [`JOB_FLAKY`].";
    RUN_BLOCKED = "4xmakns9twg", "Blocked.";
    RUN_ERROR = "bvmsu0w6ueq", "Ended in an error.";
    RUN_SKIPPED = "8rt0zxy5lr4", "Skipped.";
    RUN_TWO_PLAYERS = "atfk830fu80", "Two players.";
    RUN_THREE_PLAYERS = "ih5w5636edb", "Three players, the second failed.";
    RUN_DISCOVERY = "hikt0u031x0", "Found several bugs.";
    RUN_STOPPED = "1xqwca9pgfu", "Stopped.";
    RUN_RUNNING = "s3sank19vdh", "Running at the start clock.";

    // Executions of `demo`.
    EXECUTION_COMPLETED = "4ea293c9-1c5e-4484-9aa0-aaa3664e6f27", "Completed.";
    EXECUTION_IN_PROGRESS = "6dce3d19-5134-4267-897c-7636f2b678c5", "In progress at the start clock.";
    EXECUTION_QUEUED = "9a5b039a-4842-4101-9534-06bcfde2d02a", "Queued at the start clock.";

    // Bugs of `demo`.
    BUG_ACTIVE = "bug_7h2k9", "Reviewed; occurs in [`RUN_FAILED`].";
    BUG_CRITICAL = "bug_9d3rt", "Reviewed, critical.";
    BUG_ARCHIVED = "bug_c5n0z", "Reviewed and archived.";
    BUG_UNREVIEWED = "bug_u6e4a", "Detected, and not reviewed yet: only in the bugs of its run.";

    // Records of `arena`.
    ARENA_TEST_PASSES = "04391872-9e10-412f-928e-0ebe7e6aa907", "Passes.";
    ARENA_BUILD_LINUX = "ee8988a0-1bef-4f15-a240-6d4281690bec", "For Linux.";
    ARENA_EXECUTION = "fde15c84-007c-4ddf-b394-e5e4049275f9", "Completed.";
    ARENA_JOB_PASSED = "c9e20a39-6ea6-460f-8e08-c2d3ff64ae6d", "Completed, passed.";
    ARENA_JOB_FAILED = "72e194fc-98e6-4ab0-b7e7-dca1f1b5fc3d", "Completed, failed.";
    ARENA_JOB_RUNNING = "277a5b88-e88a-4153-bf53-edc9a2181ef7", "Running at the start clock.";
    ARENA_RUN_PASSED = "3n3s2y7n62q", "Passed.";
    ARENA_RUN_FAILED = "dyged3szwg6", "Failed.";
    ARENA_RUN_RUNNING = "b1k2zv53u68", "Running at the start clock.";
    ARENA_BUG = "bug_a1r3n", "Detected in [`ARENA_RUN_FAILED`]; the project has no bug review.";
}
