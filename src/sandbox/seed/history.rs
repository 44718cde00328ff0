//! Jobs and executions that were created before the start of the simulated clock.

use std::sync::Arc;

use super::{
    builders::minutes_ago,
    demo_tests,
    ids::{
        ARENA_BUILD_LINUX, ARENA_CONFIG_LINUX, ARENA_EXECUTION, ARENA_JOB_FAILED, ARENA_JOB_PASSED,
        ARENA_JOB_RUNNING, ARENA_PLAN, ARENA_RUN_DISCOVERY, ARENA_RUN_FAILED, ARENA_RUN_PASSED,
        ARENA_RUN_RUNNING, ARENA_TEST_DISCOVERY, ARENA_TEST_FAILS, ARENA_TEST_PASSES, BUILD_ANDROID,
        BUILD_ANDROID_EARLIER, BUILD_PLAYSTATION, BUILD_WINDOWS, CONFIG_PHONES, CONFIG_PHONES_ALL_BROKEN,
        CONFIG_PLAYSTATION, CONFIG_WINDOWS, EXECUTION_COMPLETED, EXECUTION_IN_PROGRESS, EXECUTION_QUEUED,
        JOB_FAILED, JOB_FLAKY, JOB_PASSED, JOB_QUEUED, JOB_REJECTED, JOB_RUNNING, JOB_STOPPED,
        PLAN_CROSS_PLATFORM, PLAN_SMOKE, RUN_BLOCKED, RUN_DISCOVERY, RUN_ERROR, RUN_FAILED, RUN_PASSED,
        RUN_RUNNING, RUN_SKIPPED, RUN_STOPPED, RUN_TASK, RUN_THREE_PLAYERS, RUN_TIMED_OUT, RUN_TWO_PLAYERS,
        TEST_BLOCKED, TEST_DISCOVERY, TEST_ERRORS, TEST_FAILS, TEST_FLAKY, TEST_PASSES, TEST_SKIPPED,
        TEST_TASK, TEST_THREE_PLAYERS, TEST_TWO_PLAYERS,
    },
    past_jobs::PastJob,
};
use crate::sandbox::model::{
    ids::IdSource,
    job::JobStop,
    moment::{Millis, Moment},
    project::Project,
};

const DAY: Millis = 1_440;

/// First number for the ids of records without a constant, far from the numbers of new records.
const FIRST_UNNAMED_ID: u64 = 1 << 40;

/// Adds the jobs and executions of `demo`, oldest first.
pub(super) fn add_demo(project: &mut Project) {
    let mut ids = IdSource::after(FIRST_UNNAMED_ID);
    add_old_failure(project, &mut ids);
    add_nightly(project, &mut ids);
    add_completed_execution(project, &mut ids);
    add_last_night(project, &mut ids);
    add_present(project, &mut ids);
}

/// Adds a run of an earlier version of a test, which found a bug that has been archived since.
fn add_old_failure(project: &mut Project, ids: &mut IdSource) {
    let (job, run) = (ids.uuid(), ids.run());
    project.add_job(&PastJob::new(&job, &run, TEST_PASSES, CONFIG_PHONES, minutes_ago(10 * DAY)));
    if let Some(job) = project.jobs.get_mut(&job) {
        job.test = Arc::new(demo_tests::earlier_first_level(&job.test));
    }
}

fn add_nightly(project: &mut Project, ids: &mut IdSource) {
    let nightly = |test, hour: Millis| {
        let past = PastJob::new("", "", test, CONFIG_PHONES, minutes_ago(2 * DAY + 60 * hour));
        PastJob {
            build: Some(BUILD_ANDROID_EARLIER),
            tags: &["nightly"],
            person: Some("Nightly schedule"),
            ..past
        }
    };

    let discovery = PastJob { run: RUN_DISCOVERY, ..nightly(TEST_DISCOVERY, 6) };
    let blocked = PastJob { run: RUN_BLOCKED, ..nightly(TEST_BLOCKED, 5) };
    let errors = PastJob { run: RUN_ERROR, retries: 1, ..nightly(TEST_ERRORS, 4) };
    let skipped = PastJob { run: RUN_SKIPPED, ..nightly(TEST_SKIPPED, 3) };

    for past in [discovery, blocked, errors, skipped] {
        let job = ids.uuid();
        project.add_job(&PastJob { job: &job, ..past });
    }
}

fn add_completed_execution(project: &mut Project, ids: &mut IdSource) {
    let created = minutes_ago(DAY + 240);
    project.add_execution(EXECUTION_COMPLETED, PLAN_SMOKE, BUILD_ANDROID_EARLIER, created, "Dana Reyes");

    let of_plan = |job, run, test, retries| PastJob {
        build: Some(BUILD_ANDROID_EARLIER),
        execution: Some(EXECUTION_COMPLETED),
        person: Some("Dana Reyes"),
        retries,
        ..PastJob::new(job, run, test, CONFIG_PHONES, created)
    };
    project.add_job(&of_plan(JOB_PASSED, RUN_PASSED, TEST_PASSES, 0));
    project.add_job(&of_plan(JOB_FLAKY, RUN_TIMED_OUT, TEST_FLAKY, 1));
    project.add_job(&of_plan(JOB_FAILED, RUN_FAILED, TEST_FAILS, 1));

    let (job, run) = (ids.uuid(), ids.run());
    project.add_job(&of_plan(&job, &run, TEST_DISCOVERY, 0));
}

fn add_last_night(project: &mut Project, ids: &mut IdSource) {
    let two = PastJob {
        build: Some(BUILD_WINDOWS),
        ..PastJob::new("", RUN_TWO_PLAYERS, TEST_TWO_PLAYERS, CONFIG_WINDOWS, minutes_ago(330))
    };
    let three = PastJob {
        build: Some(BUILD_PLAYSTATION),
        ..PastJob::new("", RUN_THREE_PLAYERS, TEST_THREE_PLAYERS, CONFIG_PLAYSTATION, minutes_ago(300))
    };
    let task =
        PastJob { tags: &["api"], ..PastJob::new("", RUN_TASK, TEST_TASK, CONFIG_WINDOWS, minutes_ago(270)) };

    for past in [two, three, task] {
        let job = ids.uuid();
        project.add_job(&PastJob { job: &job, ..past });
    }

    for (test, minutes) in [(TEST_PASSES, 240), (TEST_FAILS, 230), (TEST_FLAKY, 220)] {
        let (job, run) = (ids.uuid(), ids.run());
        let past = PastJob::new(&job, &run, test, CONFIG_PHONES, minutes_ago(minutes));
        project.add_job(&PastJob { build: Some(BUILD_ANDROID), tags: &["ci"], ..past });
    }

    let stopped = minutes_ago(200);
    project.add_job(&PastJob {
        build: Some(BUILD_ANDROID),
        ..PastJob::new(JOB_STOPPED, RUN_STOPPED, TEST_PASSES, CONFIG_PHONES, stopped)
    });

    if let Some(job) = project.jobs.get_mut(JOB_STOPPED) {
        job.stopped = Some(JobStop { at: stopped + 62_000, key: "key_demo".to_owned() });
    }

    project.add_job(&PastJob::new(
        JOB_REJECTED,
        "unused",
        TEST_PASSES,
        CONFIG_PHONES_ALL_BROKEN,
        minutes_ago(180),
    ));
}

/// Adds the jobs and executions that are in progress at the start of the simulated clock.
fn add_present(project: &mut Project, ids: &mut IdSource) {
    let created = Moment::START - 190_000;
    project.add_execution(EXECUTION_IN_PROGRESS, PLAN_SMOKE, BUILD_ANDROID, created, "Ilir Hoxha");

    let of_plan = PastJob {
        build: Some(BUILD_ANDROID),
        execution: Some(EXECUTION_IN_PROGRESS),
        person: Some("Ilir Hoxha"),
        ..PastJob::new("", "", "", CONFIG_PHONES, created)
    };

    let (job, run) = (ids.uuid(), ids.run());
    project.add_job(&PastJob { job: &job, run: &run, test: TEST_PASSES, ..of_plan });

    // The job is at its second step when the clock starts.
    let started = Moment::START - 70_000;
    project.add_job(&PastJob {
        job: JOB_RUNNING,
        run: RUN_RUNNING,
        test: TEST_FLAKY,
        retries: 1,
        created: started,
        ..of_plan
    });

    let waiting = Moment::START - 3_000;
    for (test, retries) in [(TEST_FAILS, 1), (TEST_DISCOVERY, 0)] {
        let (job, run) = (ids.uuid(), ids.run());
        project.add_job(&PastJob { job: &job, run: &run, test, retries, created: waiting, ..of_plan });
    }

    project.add_execution(EXECUTION_QUEUED, PLAN_CROSS_PLATFORM, BUILD_WINDOWS, waiting, "Ilir Hoxha");
    let (job, run) = (ids.uuid(), ids.run());
    let queued = |job, run, test| PastJob {
        build: Some(BUILD_WINDOWS),
        execution: Some(EXECUTION_QUEUED),
        person: Some("Ilir Hoxha"),
        ..PastJob::new(job, run, test, CONFIG_WINDOWS, waiting)
    };

    let queued_run = ids.run();
    project.add_job(&PastJob { retries: 1, ..queued(JOB_QUEUED, &queued_run, TEST_TWO_PLAYERS) });
    project.add_job(&queued(&job, &run, TEST_THREE_PLAYERS));
}

/// Adds the jobs and the execution of `arena`, oldest first.
pub(super) fn add_arena(project: &mut Project) {
    let created = minutes_ago(400);
    let past =
        PastJob { build: Some(ARENA_BUILD_LINUX), ..PastJob::new("", "", "", ARENA_CONFIG_LINUX, created) };
    let mut ids = IdSource::after(2 * FIRST_UNNAMED_ID);
    let job = ids.uuid();

    project.add_job(&PastJob {
        job: &job,
        run: ARENA_RUN_DISCOVERY,
        test: ARENA_TEST_DISCOVERY,
        created: minutes_ago(DAY),
        ..past
    });
    project.add_execution(ARENA_EXECUTION, ARENA_PLAN, ARENA_BUILD_LINUX, created, "Mei Tanaka");

    let of_plan =
        PastJob { execution: Some(ARENA_EXECUTION), person: Some("Mei Tanaka"), tags: &["ranked"], ..past };
    project.add_job(&PastJob {
        job: ARENA_JOB_PASSED,
        run: ARENA_RUN_PASSED,
        test: ARENA_TEST_PASSES,
        ..of_plan
    });
    project.add_job(&PastJob {
        job: ARENA_JOB_FAILED,
        run: ARENA_RUN_FAILED,
        test: ARENA_TEST_FAILS,
        retries: 1,
        ..of_plan
    });

    let running = PastJob { created: Moment::START - 45_000, retries: 2, ..past };
    project.add_job(&PastJob {
        job: ARENA_JOB_RUNNING,
        run: ARENA_RUN_RUNNING,
        test: ARENA_TEST_PASSES,
        ..running
    });
}
