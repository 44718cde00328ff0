// Shows the results of several runs: failures first, then changes and the last results, then every run.

const KINDS = { run: 'Run', job: 'Job', jobs: 'Jobs', test_plan_execution: 'Test plan execution' };
const kindOf = (word) => Object.entries(KINDS).find(([kind]) => kind === word)?.[1] ?? text(word);
const named = (test) => text(object(test).name) || text(object(test).id) || text(test) || 'A test';
const built = (build) => text(object(build).name) || text(object(build).id);
const placeOfRun = (id) => `run-${text(id)}`;

/** Lists ids. Ids of runs that the page contains are links. */
function codes(ids, runs) {
  const isHere = (id) => list(runs).some((run) => text(object(run).multiplayer_run_id) === text(id));
  const shown = list(ids).filter(isFilled).flatMap((id, index) => [index > 0 && ', ', make('code', {}, isHere(id) ? jump(placeOfRun(id), id) : id)]);
  return shown.length > 0 ? make('span', {}, shown) : '';
}

/** Lists bugs with their severity and id. */
function bugLines(bugs) {
  return items('ul', 'lines', list(bugs).map(object).map((bug) => [span('title', text(bug.title) || text(bug.id)), ' ', span('muted', joined([bug.severity, bug.id]))]));
}

function failureRow(value, index, report) {
  const failure = object(value);
  const step = object(failure.step);
  const where = joined([text(step.player) && `player ${text(step.player)}`, text(step.number) && `step ${text(step.number)}`], ', ');
  const head = [titled(named(failure.test)), verdict(failure.verdict, number(failure.count) > 1 && ` × ${failure.count}`),
    below(joined([where && where[0].toUpperCase() + where.slice(1), step.goal], ': '))];
  return judged(failure.verdict, folded(index < 5, head, [
    facts([
      ['Expected', text(failure.expected)],
      ['Observed', text(failure.observed)],
      ['Bugs', bugLines(failure.bugs)],
      ['Devices', joined(list(failure.devices), ', ')],
      ['Files', joined(list(failure.artifacts), ', ')],
      ['Runs', codes(failure.run_ids, report.runs)],
      ['Jobs', codes(failure.job_ids)],
    ], 'parts'),
    thumbnails(list(failure.run_ids).flatMap((id) => picturesOf(report, id, (one) => number(one.step) !== null))),
  ]));
}

function changesPart(value) {
  const comparison = object(value);
  const group = (name, rows) => list(rows).length > 0 && make('div', {}, make('h3', {}, `${name} (${rows.length})`), items('ul', 'cards', rows.map((row) => {
    const one = object(row);
    const was = text(one.was) && span('muted more', `was: ${known(one.was)[2]}`);
    return judged(one.verdict, make('div', { class: 'row' }, titled(named(one.test ?? row)), verdict(one.verdict), was));
  })));
  const { with: against } = comparison;
  const other = joined([kindOf(object(against).target_type), object(against).target_id ?? against, built(object(against).build)]);
  return section('Compared', other && words(`With ${other}`, 'muted'), words(comparison.note, 'muted'),
    group('New', comparison.new), group('Known', comparison.known), group('Fixed', comparison.fixed), group('Without a result', comparison.not_run));
}

/** Shows the last results as a table of letters. The keyboard scrolls only what can have the focus. */
function historyPart(value) {
  const { results, tests, letters } = object(value);
  if (list(tests).length === 0) return null;
  const head = list(results).map(object).map((one) => make('th', { scope: 'col' }, text(one.started_at), below(text(one.build)), make('code', {}, text(one.id))));
  const rows = tests.map(object).map((test) => make('tr', {}, make('th', { scope: 'row' }, titled(named(test)), below(text(test.label))),
    [...text(test.results)].map((letter) => make('td', {}, make('span', { title: text(object(letters)[letter]) }, letter)))));
  const label = `Last ${plural(list(results).length, 'result')}, the newest on the right`;
  const legend = Object.entries(object(letters)).map(([letter, word]) => `${letter} ${text(word)}`).join(', ');
  const table = make('table', {}, make('caption', { class: 'muted' }, `${label}. ${legend}`), make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'Test'), head)), make('tbody', {}, rows));
  return section('Last results', make('div', { class: 'scroll', role: 'region', 'aria-label': label, tabindex: 0 }, table));
}

/** Shows tests that have something in common, with what is said of each. */
function testsPart(name, tests, runs, said) {
  return section(name, items('ul', 'cards', list(tests).map(object).map((one) => {
    const row = make('div', { class: 'row' }, titled(named(one.test)), codes([one.run_id], runs), said(one));
    // The verdict of a slow test is told by its run.
    return name.startsWith('Passed') ? judged('SUCCESS', row) : row;
  })));
}

function attempts({ earlier }) {
  const shown = list(earlier).map((word) => verdict(object(word).verdict ?? object(word).result ?? word));
  return shown.length > 0 && make('span', { class: 'more' }, span('muted', 'Earlier attempts: '), shown);
}

function runRow(run, report) {
  const id = text(run.multiplayer_run_id);
  const summary = object(report.summary);
  // The summary lists the bugs of a run with its failures and with the tests that passed.
  const failure = list(summary.failures).map(object).find((one) => list(one.run_ids).length === 1 && text(one.run_ids[0]) === id);
  const { bugs } = object(failure ?? list(summary.passed_with_bugs).map(object).find((one) => text(one.run_id) === id));
  const count = number(object(run.bug_info).bug_count);
  const players = list(run.players);
  const head = [titled(named(run.test)), verdict(outcome(run)),
    below(joined([duration(run.duration_ms), players.length > 1 ? plural(players.length, 'player') : device(object(players[0]).platform), count > 0 && plural(count, 'bug')]))];
  const inside = [
    facts([
      ['Run', id && [make('code', {}, linked(id, run.url)), ' ', jump(placeOfRun(id), 'Link to this run')].reduce((all, part) => (all.append(part), all), make('span'))],
      ['Started', moment(run.started_at)],
      ['Bugs', bugLines(bugs)],
    ], 'parts'),
    thumbnails(picturesOf(report, id, (one) => one.end)),
  ];
  return judged(outcome(run), Object.assign(folded(false, head, inside), { id: placeOfRun(id) }));
}

function summaryWord(summary, report) {
  if (summary.all_passed === true) return 'SUCCESS';
  const words = Object.keys(object(summary.verdicts)).filter((word) => !passed(word));
  // The summary says `running` for everything that is not finished, started or not.
  if (summary.state !== undefined && !same(summary.state, 'completed')) return text(report.state) || (summary.started_at ? text(summary.state) : 'unfinished');
  if (words.some((word) => !same(word, 'skipped')) || list(summary.failures).length > 0) return 'FAILED';
  return words[0] ?? text(summary.state);
}

function summaryPage(summary, report) {
  const kind = kindOf(summary.target_type);
  const { finished, total } = summary;
  const runs = list(report.runs).map(object).sort((one, other) => rank(outcome(one)) - rank(outcome(other)));
  const bugs = Object.entries(object(summary.bugs)).sort(([one], [other]) => (SEVERITIES.indexOf(one) + 9) % 9 - (SEVERITIES.indexOf(other) + 9) % 9);
  return [
    heading(joined([kind, summary.target_id]), text(summary.name) || kind || 'Results', summaryWord(summary, report)),
    facts([
      ['Build', built(summary.build) || joined(list(summary.builds).map(built), ', ')],
      ['Duration', lasted(summary)],
      ['Finished tests', number(finished) !== null && number(total) !== null && `${finished} of ${total}`],
      ['Started', moment(summary.started_at)],
      ['Finished', moment(summary.completed_at)],
      ['Bugs', joined(bugs.map(([word, count]) => `${text(count)} ${word.toLowerCase()}`), ', ')],
    ]),
    counted({ ...object(summary.verdicts), unfinished: total - finished }, 'Tests by verdict'),
    ...missing(report), ...missing(summary), ...missingPictures(report),
    filterPart(runs.map((run) => outcome(run))),
    section(`Failures (${list(summary.failures).length})`, items('ul', 'cards', list(summary.failures).map((one, index) => failureRow(one, index, report)))),
    changesPart(summary.comparison), historyPart(summary.history),
    testsPart('Passed after a retry', summary.passed_after_retry, report.runs, attempts),
    testsPart('Passed with bugs', summary.passed_with_bugs, report.runs, ({ bugs: found }) => bugLines(found)),
    testsPart('Slowest', summary.slowest, report.runs, ({ duration_ms: took }) => below(duration(took))),
    section(`Runs (${runs.length})`, items('ul', 'cards', runs.map((run) => runRow(run, report)))),
  ];
}
