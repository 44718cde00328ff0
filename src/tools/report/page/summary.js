// Shows the results of several runs: failures first, then changes, then every run.

const KINDS = { run: 'Run', job: 'Job', jobs: 'Jobs', test_plan_execution: 'Test plan execution' };
const named = (test) => text(object(test).name) || text(object(test).id) || text(test) || 'A test';
const built = (build) => text(object(build).name) || text(object(build).id);

const placeOfRun = (id) => `run-${text(id)}`;

/** Lists ids. Ids of runs that the page contains are links. */
function codes(ids, runs) {
  const isHere = (id) => list(runs).some((run) => text(object(run).multiplayer_run_id) === text(id));
  const code = (id) => make('code', {}, isHere(id) ? jump(placeOfRun(id), id) : id);
  const shown = list(ids).filter(isFilled).flatMap((id, index) => [index > 0 ? ', ' : '', code(id)]);
  return shown.length > 0 ? make('span', {}, shown) : '';
}

function failureRow(value, index, report) {
  const { runs } = report;
  const failure = object(value);
  const step = object(failure.step);
  const where = [text(step.player) && `Player ${text(step.player)}`, text(step.number) && `step ${text(step.number)}`].filter(Boolean).join(', ');
  const goal = [where && where[0].toUpperCase() + where.slice(1), text(step.goal)].filter(Boolean).join(': ');
  const times = number(failure.count) > 1 ? ` × ${failure.count}` : '';
  return judged(failure.verdict, folded(index < 5, [titled(named(failure.test)), verdict(failure.verdict, times), below(goal)], [
    facts([
      ['Expected', text(failure.expected)],
      ['Observed', text(failure.observed)],
      ['Bugs', bugLines(failure.bugs) ?? ''],
      ['Files', list(failure.artifacts).map(text).join(', ')],
      ['Runs', codes(failure.run_ids, runs)],
      ['Jobs', codes(failure.job_ids)],
    ], 'parts'),
    thumbnails(list(failure.run_ids).flatMap((id) => picturesOf(report, id, (one) => number(one.step) !== null))),
  ]));
}

function changed(comparison) {
  const row = (value) => {
    const one = object(value);
    const was = text(one.was) && span('muted more', `was: ${known(one.was)[2]}`);
    return judged(one.verdict, make('div', { class: 'row' }, titled(named(one.test ?? one)), one.verdict && verdict(one.verdict), was));
  };
  const group = (name, rows) => list(rows).length > 0
    && make('div', {}, make('h3', {}, `${name} (${rows.length})`), items('ul', 'cards', rows.map(row)));
  const against = comparison.with;
  const other = object(against).target_id
    ? [told(KINDS, against.target_type) ?? text(against.target_type), text(against.target_id), built(against.build)].filter(Boolean).join(' · ')
    : text(against);
  const groups = [
    group('Newly failing', comparison.newly_failing), group('Still failing', comparison.still_failing),
    group('Fixed', comparison.fixed), group('Without a result', comparison.not_run),
  ];
  return section('Compared', other && words(`With ${other}`, 'muted'), words(comparison.note, 'muted'), groups);
}

function retriedRow(value, runs) {
  const one = object(value);
  const earlier = list(one.earlier).map((word) => verdict(object(word).verdict ?? object(word).result ?? word));
  return judged('SUCCESS', make('div', { class: 'row' }, titled(named(one.test)), codes([one.run_id], runs),
    earlier.length > 0 && make('span', { class: 'more' }, span('muted', 'Earlier attempts: '), earlier)));
}

/** Lists bugs with their severity and id. */
function bugLines(bugs) {
  return items('ul', 'lines', list(bugs).map(object).map((bug) =>
    [span('title', text(bug.title) || text(bug.id)), ' ', span('muted', [text(bug.severity), text(bug.id)].filter(Boolean).join(' · '))]));
}

function passedRow(value, runs) {
  const one = object(value);
  return judged('SUCCESS', make('div', { class: 'row' }, titled(named(one.test)), codes([one.run_id], runs), bugLines(one.bugs)));
}

/** Returns the bugs of a run, which the summary lists with its failures and with the tests that passed. */
function bugsOf(summary, run) {
  const failure = list(summary.failures).map(object).find((one) => list(one.run_ids).length === 1 && text(one.run_ids[0]) === run);
  const pass = list(summary.passed_with_bugs).map(object).find((one) => text(one.run_id) === run);
  return object(failure ?? pass).bugs;
}

function runRow(value, report) {
  const run = object(value);
  const parts = [
    duration(run.duration_ms),
    list(run.players).length > 1 ? plural(run.players.length, 'player') : device(object(list(run.players)[0]).platform),
    number(object(run.bug_info).bug_count) > 0 ? plural(run.bug_info.bug_count, 'bug') : '',
  ];
  const id = text(run.multiplayer_run_id);
  const head = [titled(named(run.test)), verdict(outcome(run)), below(parts.filter(Boolean).join(' · '))];
  const inside = [
    facts([
      ['Run', id && [make('code', {}, linked(id, run.url)), ' ', jump(placeOfRun(id), 'Link to this run')]],
      ['Started', moment(run.started_at)],
      ['Bugs', bugLines(bugsOf(object(report.summary), id)) ?? ''],
    ], 'parts'),
    thumbnails(picturesOf(report, id, (one) => one.end)),
  ];
  return judged(outcome(run), Object.assign(folded(false, head, inside), { id: placeOfRun(id) }));
}

function runsPart(report) {
  const sorted = list(report.runs).map(object).sort((one, other) => rank(outcome(one)) - rank(outcome(other)));
  return section(`Runs (${sorted.length})`, items('ul', 'cards', sorted.map((run) => runRow(run, report))));
}

function severities(counts) {
  const filled = Object.entries(object(counts)).filter(([, count]) => number(count) > 0);
  const place = ([word]) => (SEVERITIES.indexOf(word.toLowerCase()) + 9) % 9 || 0;
  filled.sort((one, other) => place(one) - place(other));
  return filled.map(([word, count]) => `${count} ${word.toLowerCase()}`).join(', ');
}

function summaryWord(summary, report) {
  if (summary.all_passed === true) return 'SUCCESS';
  const words = Object.keys(object(summary.verdicts)).filter((word) => !passed(word));
  const isOver = summary.state === undefined || same(summary.state, 'completed');
  // The summary says `running` for everything that is not finished, started or not.
  if (!isOver) return text(report.state) || (summary.started_at ? text(summary.state) : 'unfinished');
  if (words.some((word) => !same(word, 'skipped')) || list(summary.failures).length > 0) return 'FAILED';
  return words[0] ?? text(summary.state);
}

function summaryPage(summary, report) {
  const kind = told(KINDS, summary.target_type) ?? text(summary.target_type);
  const title = text(summary.name) || kind || 'Results';
  const finished = number(summary.finished);
  const total = number(summary.total);
  const done = finished !== null && total !== null ? `${finished} of ${total}` : '';
  return [
    heading([kind, text(summary.target_id)].filter(Boolean).join(' · '), title, summaryWord(summary, report)),
    facts([
      ['Build', built(summary.build) || list(summary.builds).map(built).join(', ')],
      ['Duration', duration(number(summary.duration_ms) ?? time(summary.completed_at) - time(summary.started_at))],
      ['Finished tests', done],
      ['Started', moment(summary.started_at)],
      ['Finished', moment(summary.completed_at)],
      ['Bugs', severities(summary.bugs)],
    ]),
    counted({ ...object(summary.verdicts), unfinished: total - finished }, 'Tests by verdict'),
    ...missing(report), ...missing(summary), ...missingPictures(report),
    filterPart(list(report.runs).map((run) => outcome(object(run)))),
    section(`Failures (${list(summary.failures).length})`, items('ul', 'cards', list(summary.failures).map((one, index) => failureRow(one, index, report)))),
    Object.keys(object(summary.comparison)).length > 0 && changed(summary.comparison),
    section('Passed only when repeated', items('ul', 'cards', list(summary.passed_after_retry).map((one) => retriedRow(one, report.runs)))),
    section('Passed with bugs', items('ul', 'cards', list(summary.passed_with_bugs).map((one) => passedRow(one, report.runs)))),
    runsPart(report),
  ];
}
