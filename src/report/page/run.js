// One run: a timeline of steps for each player, bugs by severity, files.

const SEVERITIES = ['critical', 'high', 'medium', 'low'];
const severity = (bug) => text(bug.severity).toLowerCase() || 'unknown';

function device(platform) {
  const config = object(object(object(platform).config).device);
  const name = text(config.name) || text(object(platform).device) || (typeof platform === 'string' ? platform : '');
  const version = text(config.os_version);
  const kind = text(object(platform).kind) || text(object(platform).type);
  return [name && version ? `${name} (${version})` : name, kind].filter(Boolean).join(' · ');
}

/** From the first beginning to the last end. */
function rangeOf(run) {
  const steps = list(run.players).flatMap((player) => list(object(player).steps).map(object));
  const times = [run.started_at, run.completed_at, ...steps.flatMap((step) => [step.start_time, step.end_time])];
  const valid = times.map(time).filter((at) => !Number.isNaN(at));
  const [from, to] = [Math.min(...valid), Math.max(...valid)];
  return to > from ? { from, to } : null;
}

/** Where in the run a step lies; a step under way goes on to the end. */
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

function stepRow(value, index, range) {
  const step = object(value);
  const test = object(step.test);
  const word = outcome(step, 'run_result', 'run_state');
  const takes = number(step.duration_ms) ?? time(step.end_time) - time(step.start_time);
  const label = text(step.step_number) || String(index + 1);
  const lasted = below(duration(takes));
  const head = [titled(`${label}. ${text(test.goal) || 'Step'}`), verdict(word), bar(step, range, known(word)[0]), lasted];
  const expected = items('ul', 'lines', list(step.items).map(expectation));
  const inside = [
    facts([
      ['Expected', expected ?? text(test.finish_condition)],
      ['Report', text(step.report)],
      ['Started', moment(step.start_time)],
    ], 'parts'),
  ];
  const isBad = ['fail', 'warn'].includes(known(word)[0]);
  return folded(isBad, head, inside);
}

function artifact(value) {
  const one = object(value);
  return [link(one.url, text(one.filename) || text(one.url) || 'file'), ' ', span('muted', size(one.size))];
}

function playerPart(value, index, range, isAlone) {
  const player = object(value);
  const shown = text(player.player_number) || String(index + 1);
  const where = device(player.platform);
  const id = `player-${index}`;
  const steps = list(player.steps);
  const rows = steps.map((step, at) => stepRow(step, at, range));
  const files = list(player.artifacts).map(artifact);
  return make('section', { 'aria-labelledby': id },
    make('div', { class: 'player' },
      make('h2', { id, dir: 'auto' }, isAlone ? 'Steps' : `Player ${shown}`), verdict(outcome(player)), where && span('muted', where)),
    items('ol', 'cards', rows) ?? (text(player.step_count) && words(plural(player.step_count, 'step'), 'muted')),
    files.length > 0 && make('h3', {}, 'Files'), files.length > 0 && items('ul', 'lines', files));
}

function bugRow(bug) {
  const player = number(bug.player_number);
  const head = [titled(text(bug.title) || text(bug.id) || 'Bug'), span('muted', text(bug.category))];
  return folded(false, head, [
    words(bug.description),
    facts([
      ['How to reproduce', text(bug.reproduction_steps)],
      // Bugs count players from 0, runs from 1.
      ['Seen by', player === null ? '' : `player ${player + 1}${text(bug.test_step) && `, step ${text(bug.test_step)}`}`],
      ['Confidence', text(bug.confidence)],
      ['Detected', moment(bug.detected_at)],
      ['Details', Object.keys(object(bug.details)).length > 0 ? make('pre', {}, JSON.stringify(bug.details, null, 2)) : ''],
    ], 'parts'),
  ]);
}

/** Bugs under their severities, the gravest first. */
function bugsPart(bugs) {
  const all = list(bugs).map(object);
  const rest = [...new Set(all.map(severity))].filter((word) => !SEVERITIES.includes(word));
  const groups = [...SEVERITIES, ...rest].map((word) => {
    const rows = all.filter((bug) => severity(bug) === word);
    if (rows.length === 0) return null;
    const name = word[0].toUpperCase() + word.slice(1);
    return make('div', {}, make('h3', { dir: 'auto' }, `${name} (${rows.length})`), items('ul', 'cards', rows.map(bugRow)));
  });
  return section(`Bugs (${all.length})`, groups.filter(Boolean));
}

function runPage(run, report) {
  const test = object(run.test);
  const players = list(run.players);
  const range = rangeOf(run);
  const counts = {};
  for (const player of players) {
    for (const step of list(object(player).steps)) {
      const word = outcome(object(step), 'run_result', 'run_state').toUpperCase();
      counts[word] = (counts[word] ?? 0) + 1;
    }
  }
  const bugs = number(object(run.bug_info).bug_count);
  const hasFiles = players.some((player) => list(object(player).artifacts).length > 0);
  const initiator = object(object(run.initiator).value);
  return [
    heading(['Run', text(run.multiplayer_run_id), text(test.type)].filter(Boolean).join(' · '), text(test.name) || 'Run', outcome(run)),
    facts([
      ['Build', text(object(run.build).name)],
      ['Duration', duration(number(run.duration_ms) ?? time(run.completed_at) - time(run.started_at))],
      ['Started', moment(run.started_at)],
      ['Finished', moment(run.completed_at)],
      ['Players', players.length > 1 ? players.length : ''],
      ['Bugs', report.bugs || bugs === null ? '' : bugs],
      ['Started by', text(initiator.name) || text(initiator.key_id) || text(object(run.initiator).type)],
      ['Tags', list(run.tags).map(text).join(', ')],
    ]),
    counted(counts, 'Steps by result'),
    ...missing(report), ...missing(run),
    bugsPart(report.bugs),
    ...players.map((player, index) => playerPart(player, index, range, players.length === 1)),
    hasFiles && words(`Files ask for the API key; "tas-mcp download run ${text(run.multiplayer_run_id)}" saves them.`, 'muted gap'),
  ];
}
