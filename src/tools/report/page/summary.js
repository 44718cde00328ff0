// Shows the results of several runs: failures first, then changes and the last results, then every run.

const kindOf = (word) => text(word).replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase());
const nameOf = (one) => text(object(one).name) || text(object(one).id) || text(one);
const placeOfRun = (id) => `run-${text(id)}`;

/** Lists ids. Ids of runs that the page contains are links. */
function codes(ids, runs) {
  const isHere = (id) => objects(runs).some((run) => run.multiplayer_run_id === id);
  const shown = list(ids).filter(isFilled).map((id) => make('code', {}, isHere(id) ? jump(placeOfRun(id), id) : id));
  return shown.length > 0 && make('span', {}, shown.map((code, index) => [index > 0 && ', ', code]));
}

/** Lists bugs with their severity and id. */
function bugLines(bugs) {
  return items('ul', 'lines', objects(bugs).map((bug) =>
    [span('title', text(bug.title) || text(bug.id)), ' ', span('muted', joined([bug.severity, bug.id]))]));
}

function failureRow(failure, index, report) {
  const { player, number: step, goal } = object(failure.step);
  const where = joined([text(player) && `Player ${text(player)}`, text(step) && `Step ${text(step)}`], ', ');
  const times = number(failure.count) > 1 && ` × ${failure.count}`;
  const head = [titled(nameOf(failure.test)), verdict(failure.verdict, times), below(joined([where, goal], ': '))];
  const shots = list(failure.run_ids).flatMap((id) => picturesOf(report, id)).filter((one) => text(one.step));

  return folded(null, index < 5, head, [
    facts([
      ['Expected', text(failure.expected)],
      ['Observed', text(failure.observed)],
      ['Bugs', bugLines(failure.bugs)],
      ['Devices', joined(list(failure.devices), ', ')],
      ['Files', joined(list(failure.artifacts), ', ')],
      ['Runs', codes(failure.run_ids, report.runs)],
      ['Jobs', codes(failure.job_ids)],
    ]),
    thumbnails(shots),
  ]);
}

function changesPart(value) {
  const { with: against, note, ...groups } = object(value);
  const { target_type: kind, target_id: id, build } = object(against);
  const other = joined([kindOf(kind), id ?? against, nameOf(build)]);

  const row = (change) => {
    const { test, verdict: word, was } = object(change);
    const before = below(text(was) && `was: ${text(was)}`);
    return make('div', { class: 'row' }, titled(nameOf(test ?? change)), verdict(word), before);
  };
  const named = [['New', 'new'], ['Known', 'known'], ['Fixed', 'fixed'], ['Without a result', 'not_run']];
  const lists = named.map(([name, field]) => [name, list(groups[field]).map(row)]).filter(([, rows]) => rows.length > 0);
  return section('Compared', other && words(`With ${other}`, 'muted'), words(note, 'muted'),
    lists.map(([name, rows]) => [make('h3', {}, `${name} (${rows.length})`), items('ul', 'cards', rows)]));
}

/** Shows the last results with a letter for each, and below them what the letters and the results are. */
function historyPart(value) {
  const { results, tests, letters } = object(value);
  const rows = objects(tests).map((test) => {
    const grid = make('code', {}, [...text(test.results)].join(' '));
    return make('div', { class: 'row' }, titled(nameOf(test)), grid, below(text(test.label)));
  });
  const legend = Object.entries(object(letters)).map((pair) => joined(pair, ' '));
  const columns = objects(results).map((one) => joined([one.started_at, one.build, one.id]));

  return rows.length > 0 && section(`Last ${plural(columns.length, 'result')}`,
    words(joined(['The newest is on the right', ...legend]), 'muted'),
    items('ul', 'cards', rows), items('ol', 'lines results', columns));
}

/** Shows tests that have something in common, with what is said of each. */
function testsPart(name, tests, runs, said) {
  return section(name, items('ul', 'cards', objects(tests).map((one) =>
    make('div', { class: 'row' }, titled(nameOf(one.test)), codes([one.run_id], runs), below(said(one))))));
}

function runRow(run, report) {
  const id = text(run.multiplayer_run_id);
  const devices = new Set(objects(run.players).map((player) => device(player.platform)));
  const bugs = number(object(run.bug_info).bug_count);
  const more = joined([lasted(run), ...devices, bugs > 0 && plural(bugs, 'bug')]);
  const head = [titled(nameOf(run.test)), verdict(outcome(run)), below(more)];

  return folded(placeOfRun(id), false, head, [
    facts([['Run', make('code', {}, linked(id, run.url))], ['Started', moment(run.started_at)]]),
    thumbnails(picturesOf(report, id).filter((one) => one.end)),
  ]);
}

/** Creates the field that hides the rows without its words. */
function filterPart() {
  const label = 'Filter by words, such as: failed login';
  const search = make('input', { type: 'search', 'aria-label': label, placeholder: label });
  const found = make('span', { class: 'muted', 'aria-live': 'polite' });
  search.addEventListener('input', () => {
    const wanted = search.value.toLowerCase().split(/\s+/);
    const rows = [...document.querySelectorAll('.cards > li')];
    for (const row of rows) row.hidden = !wanted.every((word) => row.textContent.toLowerCase().includes(word));
    for (const part of document.querySelectorAll('section:has(.cards)')) {
      part.hidden = !part.querySelector('.cards > li:not([hidden])');
    }

    const shown = rows.filter((row) => !row.hidden).length;
    found.textContent = shown < rows.length ? `${shown} of ${plural(rows.length, 'row')}` : '';
  });
  return make('div', { class: 'filter', role: 'search' }, search, found);
}

function summaryPage(summary, report) {
  const { finished, total, state } = summary;
  const kind = kindOf(summary.target_type);
  const runs = objects(report.runs).sort((one, other) => byRank(outcome(one), outcome(other)));
  const failures = objects(summary.failures);
  const counts = Object.entries(object(summary.verdicts)).sort(([one], [other]) => byRank(one, other));
  const bugs = Object.entries(object(summary.bugs)).map(([word, count]) => [SEVERITIES.indexOf(word), word, count]);
  // The summary says `running` for everything that is not finished, started or not.
  const word = state === 'running' ? report.state ?? state : list(counts[0])[0] ?? state;

  return [
    heading(joined([kind, summary.target_id]), text(summary.name) || kind || 'Results', word),
    facts([
      ['Build', nameOf(summary.build) || joined(list(summary.builds).map(nameOf), ', ')],
      ['Duration', lasted(summary)],
      ['Finished tests', number(finished) !== null && number(total) !== null && `${finished} of ${total}`],
      ['Started', moment(summary.started_at)],
      ['Bugs', joined(bugs.sort().map(([, severity, count]) => `${text(count)} ${severity}`), ', ')],
    ], 'facts'),
    items('ul', 'counts', counts.map(([result, count]) => verdict(result, ` ${text(count)}`))),
    missing(report, summary, report.pictures),
    failures.length + runs.length > 3 && filterPart(),
    section(`Failures (${failures.length})`,
      items('ul', 'cards', failures.map((failure, index) => failureRow(failure, index, report)))),
    changesPart(summary.comparison), historyPart(summary.history),
    testsPart('Passed after a retry', summary.passed_after_retry, report.runs, (one) => joined(list(one.earlier))),
    testsPart('Passed with bugs', summary.passed_with_bugs, report.runs, (one) => bugLines(one.bugs)),
    testsPart('Slowest', summary.slowest, report.runs, lasted),
    section(`Runs (${runs.length})`, items('ul', 'cards', runs.map((run) => runRow(run, report)))),
  ];
}
