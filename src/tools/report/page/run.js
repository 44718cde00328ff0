// Shows one run: its bugs, the worst first, and for each player the steps with their pictures, and the files.

const SEVERITIES = ['critical', 'high', 'medium', 'low'];

/** Returns the pictures of a run, in the order of the report. */
function picturesOf(report, run) {
  const pictures = objects(object(report.pictures).items);
  return pictures.filter((one) => one.run_id === text(run) && /^data:image\/(jpeg|png);base64,/.test(one.src));
}

/** Shows pictures as buttons that enlarge them in their place: in the frame of a host, a dialog may be out of sight. */
function thumbnails(pictures) {
  return items('ul', 'shots', pictures.map(({ step, end, player, run_id: run, src, width, height }) => {
    const shown = [text(step) && `step ${text(step)}`, end && 'end', `player ${text(player)}`, `run ${text(run)}`];
    const image = make('img', { src, width, height, alt: `Screenshot: ${joined(shown, ', ')}` });
    const button = make('button', { type: 'button', class: 'shot', 'aria-expanded': 'false' }, image);
    button.addEventListener('click', () => { button.ariaExpanded = String(button.ariaExpanded === 'false'); });
    return button;
  }));
}

/** Returns the name and the kind of a device, whose form is open. */
function device(platform) {
  const { kind, type, device: own, config } = object(platform);
  const { name, os_version: version } = object(object(config).device);
  const whole = text(name) && joined([name, text(version) && `(${text(version)})`], ' ');
  return joined([whole || text(own) || (typeof platform === 'string' && platform), kind || type]);
}

const placeOf = (player, step) => `step-${text(player)}-${text(step)}`;

function stepRow(step, label, id, pictures) {
  const { goal, finish_condition: condition } = object(step.test);
  const word = text(step.run_result) || text(step.run_state);
  const took = lasted(step, 'start_time', 'end_time');
  const head = [titled(`${label}. ${text(goal) || 'Step'}`), verdict(word), below(took)];
  const expected = objects(step.items).map((item) =>
    [verdict(item.status), ' ', span('', text(item.expected) || text(item.id)), words(item.comment, 'muted')]);

  return folded(id, isBad(word), head, [
    facts([
      ['Expected', items('ul', 'lines', expected) || text(condition)],
      ['Report', text(step.report)],
    ]),
    thumbnails(pictures),
  ]);
}

/** Lists the files with the command that saves them: without a session at the service, a browser may not read them. */
function filesPart(player, run) {
  const rows = objects(player.artifacts).map((one) =>
    span('', linked(text(one.filename) || text(one.url) || 'file', one.url)));
  const id = text(run.multiplayer_run_id);
  // People copy the command, so that an id with other characters is not inserted.
  const command = /^\w[\w-]*$/.test(id) && make('code', {}, `tas-mcp download ${id}`);
  const how = command && make('p', { class: 'muted' }, 'To save them: ', command);

  return rows.length > 0 && [make('h3', {}, 'Files'), how, items('ul', 'lines', rows)];
}

function playerPart(player, index, run, report) {
  const shown = text(player.player_number) || String(index + 1);
  const pictures = picturesOf(report, run.multiplayer_run_id).filter((one) => text(one.player) === shown);
  const rows = objects(player.steps).map((step, at) => {
    const label = text(step.step_number) || String(at + 1);
    return stepRow(step, label, placeOf(shown, label), pictures.filter((one) => text(one.step) === label));
  });
  const end = thumbnails(pictures.filter((one) => text(one.step) === ''));

  const title = list(run.players).length === 1 ? 'Steps' : `Player ${shown}`;
  const head = make('p', {}, verdict(outcome(player)), ' ', span('muted', device(player.platform)));
  const last = end && [make('h3', {}, 'End of the run'), end];
  return section(title, head, items('ol', 'cards', rows), last, filesPart(player, run));
}

function bugRow(bug) {
  // Records of bugs count players from 0, records of runs from 1.
  const player = number(bug.player_number) !== null && bug.player_number + 1;
  const where = joined([player && `player ${player}`, text(bug.test_step) && `step ${text(bug.test_step)}`], ', ');
  const head = [titled(text(bug.title) || text(bug.id) || 'Bug'), span('muted', joined([bug.severity, bug.category]))];

  return folded(null, false, head, [
    words(bug.description),
    facts([
      ['How to reproduce', text(bug.reproduction_steps)],
      ['Bug', linked(text(bug.bug_id), bug.url)],
      ['Seen by', where && jump(placeOf(player, bug.test_step), where)],
      ['Screenshot', linked('At the service', object(bug.details).screenshot_url, '')],
    ]),
  ]);
}

function bugsPart(bugs, found) {
  const place = ({ severity }) => (SEVERITIES.indexOf(text(severity).toLowerCase()) + 5) % 5;
  const all = objects(bugs).sort((one, other) => place(one) - place(other));
  const count = found > all.length ? `${all.length} of ${found}` : all.length;
  return section(`Bugs (${count})`, items('ul', 'cards', all.map(bugRow)));
}

function runPage(run, report) {
  const { name, type } = object(run.test);
  const { type: starter, value: initiator } = object(run.initiator);
  const { comparison, history, ...summary } = object(report.summary);

  return [
    heading(joined(['Run', run.multiplayer_run_id, type]), text(name) || 'Run', outcome(run)),
    facts([
      ['Build', text(object(run.build).name)],
      ['At the service', linked('Open the run', run.url, '')],
      ['Duration', lasted(run)],
      ['Started', moment(run.started_at || run.created_at)],
      ['Bugs', !report.bugs && number(object(run.bug_info).bug_count)],
      ['Started by', text(object(initiator).name) || text(object(initiator).key_id) || text(starter)],
      ['Tags', joined(list(run.tags), ', ')],
    ], 'facts'),
    missing(report, run, summary, report.pictures),
    bugsPart(report.bugs, report.bugs_found),
    objects(run.players).map((player, index) => playerPart(player, index, run, report)),
    changesPart(comparison), historyPart(history),
  ];
}
