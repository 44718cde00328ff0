// Shows one run: a timeline of steps for each player, bugs by severity, files.

const SEVERITIES = ['critical', 'high', 'medium', 'low'];
const severity = (bug) => text(bug.severity).toLowerCase() || 'unknown';

function device(platform) {
  const config = object(object(object(platform).config).device);
  const name = text(config.name) || text(object(platform).device) || (typeof platform === 'string' ? platform : '');
  const version = text(config.os_version);
  const kind = text(object(platform).kind) || text(object(platform).type);
  return [name && version ? `${name} (${version})` : name, kind].filter(Boolean).join(' · ');
}

const stepsOf = (run) => list(run.players).flatMap((player) => list(object(player).steps).map(object));

/** Returns the time from the first start to the last end. */
function rangeOf(run) {
  const times = [run.started_at, run.completed_at, ...stepsOf(run).flatMap((step) => [step.start_time, step.end_time])];
  const valid = times.map(time).filter((at) => !Number.isNaN(at));
  const [from, to] = [Math.min(...valid), Math.max(...valid)];
  return to > from ? { from, to } : null;
}

/** Returns the position of a step in the run. A running step ends with the run. */
function bar(step, range, kind) {
  const start = time(step.start_time);
  if (!range || Number.isNaN(start)) return null;
  const end = time(step.end_time);
  const share = (at) => (100 * Math.min(Math.max(at - range.from, 0), range.to - range.from)) / (range.to - range.from);
  const shown = make('span', { class: `bar ${kind || 'muted'}` });
  const width = share(Number.isNaN(end) ? range.to : end) - share(start);
  shown.style.marginInlineStart = `${Math.min(share(start), 99)}%`;
  shown.style.width = `${Math.max(width, 0.5)}%`;
  return make('span', { class: 'track more', 'aria-hidden': 'true' }, shown);
}

function expectation(value) {
  const item = object(value);
  const comment = text(item.comment);
  return [verdict(item.status), ' ', span('', text(item.expected) || text(item.id)), comment && words(comment, 'muted')];
}

const placeOf = (player, step) => `step-${player}-${step}`;
const labelOf = (step, index) => text(object(step).step_number) || String(index + 1);

function stepRow(value, index, range, pictures) {
  const step = object(value);
  const test = object(step.test);
  const word = outcome(step, 'run_result', 'run_state');
  const takes = number(step.duration_ms) ?? time(step.end_time) - time(step.start_time);
  const lasted = below(duration(takes));
  const head = [titled(`${labelOf(step, index)}. ${text(test.goal) || 'Step'}`), verdict(word), bar(step, range, known(word)[0]), lasted];
  const expected = items('ul', 'lines', list(step.items).map(expectation));
  const inside = [
    facts([
      ['Expected', expected ?? text(test.finish_condition)],
      ['Report', text(step.report)],
      ['Started', moment(step.start_time)],
    ], 'parts'),
    thumbnails(pictures),
  ];
  return folded(isBad(word), head, inside);
}

/** Lists the files with the command that saves them: without a session at the service, a browser may not read them. */
function filesPart(player, run) {
  const rows = list(player.artifacts).map(object).map((one) =>
    [span('', linked(text(one.filename) || text(one.url) || 'file', one.url)), ' ', span('muted', size(one.size))]);
  const id = text(run.multiplayer_run_id);
  // People copy the command, so that an id with other characters is not inserted.
  const command = /^\w[\w-]*$/.test(id) && make('p', { class: 'muted' }, 'To save them: ', make('code', {}, `tas-mcp download run ${id}`));
  return rows.length > 0 && [make('h3', {}, 'Files'), command, items('ul', 'lines', rows)];
}

function playerPart(player, index, run, report) {
  const range = rangeOf(run);
  const isAlone = list(run.players).length === 1;
  const shown = text(player.player_number) || String(index + 1);
  const where = device(player.platform);
  const id = `player-${index}`;
  const steps = list(player.steps);
  const pictures = (matches) => picturesOf(report, text(run.multiplayer_run_id), matches);
  const rows = steps.map((step, at) => {
    const shot = pictures(shows(shown, number(object(step).step_number) ?? at + 1));
    return Object.assign(stepRow(step, at, range, shot), { id: placeOf(index, at) });
  });
  const end = thumbnails(pictures(showsEnd(shown)));
  return make('section', { 'aria-labelledby': id },
    make('div', { class: 'player' },
      make('h2', { id, dir: 'auto' }, isAlone ? 'Steps' : `Player ${shown}`), verdict(outcome(player)), where && span('muted', where)),
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
  const where = `player ${shown}${label && `, step ${label}`}`;
  return step < 0 ? where : jump(placeOf(player, step), where);
}

function bugRow(bug, run) {
  const head = [titled(text(bug.title) || text(bug.id) || 'Bug'), span('muted', text(bug.category))];
  return Object.assign(folded(false, head, [
    words(bug.description),
    facts([
      ['How to reproduce', text(bug.reproduction_steps)],
      ['Bug', linked(text(bug.bug_id), bug.url)],
      ['Seen by', seenBy(bug, run)],
      ['Confidence', text(bug.confidence)],
      ['Detected', moment(bug.detected_at)],
      ['Screenshot', linked('', object(bug.details).screenshot_url) && linked('At the service', object(bug.details).screenshot_url)],
      ['Details', Object.keys(object(bug.details)).length > 0 ? make('pre', {}, JSON.stringify(bug.details, null, 2)) : ''],
    ], 'parts'),
  ]), { id: `bug-${text(bug.bug_id) || text(bug.id)}` });
}

/** Groups bugs by severity, the worst first. */
function bugsPart(bugs, found, run) {
  const all = list(bugs).map(object);
  const rest = [...new Set(all.map(severity))].filter((word) => !SEVERITIES.includes(word));
  const groups = [...SEVERITIES, ...rest].map((word) => {
    const rows = all.filter((bug) => severity(bug) === word);
    if (rows.length === 0) return null;
    const name = word[0].toUpperCase() + word.slice(1);
    return make('div', {}, make('h3', { dir: 'auto' }, `${name} (${rows.length})`), items('ul', 'cards', rows.map((bug) => bugRow(bug, run))));
  });
  return section(`Bugs (${all.length}${found > all.length ? ` of ${found}` : ''})`, groups.filter(Boolean));
}

/** Counts the steps by result. For a list that was cut, returns the counts of the service. */
function stepCounts(run) {
  const summaries = list(run.players).map((player) => object(player).step_result_summary);
  const whole = !wasCut(run, /^\/players$/) && summaries.every(Boolean) ? summaries : [];
  const entries = lacksSteps(run) ? whole.flatMap((summary) => Object.entries(object(summary)))
    : stepsOf(run).map((step) => [outcome(step, 'run_result', 'run_state'), 1]);
  const counts = {};
  for (const [word, count] of entries) if (word) counts[word.toUpperCase()] = (counts[word.toUpperCase()] ?? 0) + count;
  return counts;
}

function runPage(run, report) {
  const test = object(run.test);
  const players = list(run.players).map(object);
  const bugs = number(object(run.bug_info).bug_count);
  const initiator = object(object(run.initiator).value);
  const summary = object(report.summary);
  return [
    heading(['Run', text(run.multiplayer_run_id), text(test.type)].filter(Boolean).join(' · '), text(test.name) || 'Run', outcome(run)),
    facts([
      ['Build', text(object(run.build).name)],
      ['At the service', linked('', run.url) && linked('Open the run', run.url)],
      ['Created', moment(run.created_at)],
      ['Duration', duration(number(run.duration_ms) ?? time(run.completed_at) - time(run.started_at))],
      ['Started', moment(run.started_at)],
      ['Finished', moment(run.completed_at)],
      ['Players', players.length > 1 ? players.length : ''],
      ['Bugs', report.bugs || bugs === null ? '' : bugs],
      ['Started by', text(initiator.name) || text(initiator.key_id) || text(object(run.initiator).type)],
      ['Tags', list(run.tags).map(text).join(', ')],
    ]),
    counted(stepCounts(run), 'Steps by result'),
    ...missing(report), ...missing(run), ...missing(summary), ...missingPictures(report),
    bugsPart(report.bugs, report.bugs_found, run),
    ...players.map((player, index) => playerPart(player, index, run, report)),
    summary.comparison && changed(object(summary.comparison)),
  ];
}
