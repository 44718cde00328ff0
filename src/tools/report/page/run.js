// Shows one run: a timeline of steps for each player, bugs by severity, files.

const SEVERITIES = ['critical', 'high', 'medium', 'low'];
const severity = (bug) => text(bug.severity).toLowerCase() || 'unknown';

function device(platform) {
  const config = object(object(object(platform).config).device);
  const name = text(config.name) || text(object(platform).device) || (typeof platform === 'string' ? platform : '');
  const version = name && text(config.os_version);
  return joined([version ? `${name} (${version})` : name, text(object(platform).kind) || object(platform).type]);
}

const stepsOf = (run) => list(run.players).flatMap((player) => list(object(player).steps).map(object));

/** Returns the time from the first start to the last end. */
function rangeOf(run) {
  const times = [run.started_at, run.completed_at, ...stepsOf(run).flatMap((step) => [step.start_time, step.end_time])];
  const valid = times.map(time).filter((at) => !Number.isNaN(at));
  return { from: Math.min(...valid), to: Math.max(...valid) };
}

/** Returns the position of a step in the run. A running step ends with the run. */
function bar(step, { from, to }, kind) {
  const start = time(step.start_time);
  if (Number.isNaN(start) || from >= to) return null;
  const share = (at) => (100 * Math.min(Math.max((Number.isNaN(at) ? to : at) - from, 0), to - from)) / (to - from);
  const shown = make('span', { class: `bar ${kind || 'muted'}` });
  shown.style.marginInlineStart = `${Math.min(share(start), 99)}%`;
  shown.style.width = `${Math.max(share(time(step.end_time)) - share(start), 0.5)}%`;
  return make('span', { class: 'track more', 'aria-hidden': 'true' }, shown);
}

const placeOf = (player, step) => `step-${player}-${step}`;
const labelOf = (step, index) => text(object(step).step_number) || String(index + 1);

function stepRow(value, index, range, pictures) {
  const step = object(value);
  const test = object(step.test);
  const word = outcome(step, 'run_result', 'run_state');
  const head = [titled(`${labelOf(step, index)}. ${text(test.goal) || 'Step'}`), verdict(word), bar(step, range, known(word)[0]), below(lasted(step, 'start_time', 'end_time'))];
  const expected = items('ul', 'lines', list(step.items).map(object).map((item) =>
    [verdict(item.status), ' ', span('', text(item.expected) || text(item.id)), words(item.comment, 'muted')]));
  return folded(isBad(word), head, [
    facts([['Expected', expected ?? text(test.finish_condition)], ['Report', text(step.report)], ['Started', moment(step.start_time)]], 'parts'),
    thumbnails(pictures),
  ]);
}

/** Lists the files with the command that saves them: without a session at the service, a browser may not read them. */
function filesPart(player, run) {
  const rows = list(player.artifacts).map(object).map((one) =>
    [span('', linked(text(one.filename) || text(one.url) || 'file', one.url)), ' ', span('muted', size(one.size))]);
  const id = text(run.multiplayer_run_id);
  // People copy the command, so that an id with other characters is not inserted.
  const command = /^\w[\w-]*$/.test(id) && make('p', { class: 'muted' }, 'To save them: ', make('code', {}, `tas-mcp download ${id}`));
  return rows.length > 0 && [make('h3', {}, 'Files'), command, items('ul', 'lines', rows)];
}

function playerPart(player, index, run, report) {
  const shown = text(player.player_number) || String(index + 1);
  const where = device(player.platform);
  const id = `player-${index}`;
  const range = rangeOf(run);
  const pictures = (matches) => picturesOf(report, text(run.multiplayer_run_id), (one) => same(one.player, shown) && matches(one));
  const rows = list(player.steps).map((step, at) => {
    const shots = pictures((one) => one.step === (number(object(step).step_number) ?? at + 1));
    return Object.assign(stepRow(step, at, range, shots), { id: placeOf(index, at) });
  });
  // The pictures of the end that are not shown at a failed step.
  const end = thumbnails(pictures((one) => one.end && number(one.step) === null));
  return make('section', { 'aria-labelledby': id },
    make('div', { class: 'player' },
      make('h2', { id, dir: 'auto' }, list(run.players).length === 1 ? 'Steps' : `Player ${shown}`), verdict(outcome(player)), where && span('muted', where)),
    items('ol', 'cards', rows) ?? (text(player.step_count) && words(plural(player.step_count, 'step'), 'muted')),
    end && [make('h3', {}, 'End of the run'), end],
    filesPart(player, run));
}

/** Describes the player and the step that found a bug, with a link to the step. */
function seenBy(bug, run) {
  if (number(bug.player_number) === null) return '';
  // Records of bugs count players from 0, records of runs from 1.
  const shown = bug.player_number + 1;
  const players = list(run.players).map(object);
  const player = players.findIndex((one, index) => (number(one.player_number) ?? index + 1) === shown);
  const label = text(bug.test_step);
  const step = list(object(players[player]).steps).findIndex((one, index) => labelOf(one, index) === label);
  const where = joined([`player ${shown}`, label && `step ${label}`], ', ');
  return step < 0 ? where : jump(placeOf(player, step), where);
}

function bugRow(bug, run) {
  const { screenshot_url: shot, ...details } = object(bug.details);
  return folded(false, [titled(text(bug.title) || text(bug.id) || 'Bug'), span('muted', text(bug.category))], [
    words(bug.description),
    facts([
      ['How to reproduce', text(bug.reproduction_steps)],
      ['Bug', linked(text(bug.bug_id), bug.url)],
      ['Seen by', seenBy(bug, run)],
      ['Confidence', text(bug.confidence)],
      ['Detected', moment(bug.detected_at)],
      ['Screenshot', linked('', shot) && linked('At the service', shot)],
      ['Details', Object.keys(details).length > 0 && make('pre', {}, JSON.stringify(details, null, 2))],
    ], 'parts'),
  ]);
}

/** Groups bugs by severity, the worst first. */
function bugsPart(bugs, found, run) {
  const all = list(bugs).map(object);
  const groups = [...new Set([...SEVERITIES, ...all.map(severity)])].map((word) => {
    const rows = all.filter((bug) => severity(bug) === word).map((bug) => bugRow(bug, run));
    return rows.length > 0 && make('div', {}, make('h3', { dir: 'auto' }, `${word[0].toUpperCase()}${word.slice(1)} (${rows.length})`), items('ul', 'cards', rows));
  });
  return section(`Bugs (${all.length}${found > all.length ? ` of ${found}` : ''})`, groups);
}

/** Counts the steps by result; nothing if the report was shortened, because steps may be missing. */
function stepCounts(run) {
  const counts = {};
  for (const step of run.truncated ? [] : stepsOf(run)) {
    const word = outcome(step, 'run_result', 'run_state').toUpperCase();
    if (word) counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

function runPage(run, report) {
  const test = object(run.test);
  const players = list(run.players).map(object);
  const bugs = number(object(run.bug_info).bug_count);
  const initiator = object(object(run.initiator).value);
  const summary = object(report.summary);
  return [
    heading(joined(['Run', run.multiplayer_run_id, test.type]), text(test.name) || 'Run', outcome(run)),
    facts([
      ['Build', text(object(run.build).name)],
      ['At the service', linked('', run.url) && linked('Open the run', run.url)],
      ['Created', moment(run.created_at)],
      ['Duration', lasted(run)],
      ['Started', moment(run.started_at)],
      ['Finished', moment(run.completed_at)],
      ['Players', players.length > 1 ? players.length : ''],
      ['Bugs', report.bugs || bugs === null ? '' : bugs],
      ['Started by', text(initiator.name) || text(initiator.key_id) || text(object(run.initiator).type)],
      ['Tags', joined(list(run.tags), ', ')],
    ]),
    counted(stepCounts(run), 'Steps by result'),
    ...missing(report), ...missing(run), ...missing(summary), ...missingPictures(report),
    bugsPart(report.bugs, report.bugs_found, run),
    ...players.map((player, index) => playerPart(player, index, run, report)),
    changesPart(summary.comparison), historyPart(summary.history),
  ];
}
