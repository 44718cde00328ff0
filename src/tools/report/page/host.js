// Shows the data of the page, or the result that a host of MCP Apps sends: JSON-RPC over postMessage (revision 2026-01-26 of the extension).

const main = document.getElementById('report');
const say = (line) => { document.getElementById('status').textContent = line; };

const waiting = new Map();
let last = 0;
let input = {};
// The report of the last result. Answers to requests for an earlier result are ignored.
let latest = null;

/** Shows a report. A report of unknown form is shown as JSON. */
function show(report) {
  let parts;
  try {
    parts = report.run ? runPage(report.run, report) : summaryPage(object(report.summary), report);
  } catch (error) {
    parts = [words('This report has a form that the page does not know.', 'note'), make('pre', {}, JSON.stringify(report, null, 2))];
    console.error(error);
  }
  const created = report.created_at && make('p', { class: 'muted created' }, 'Report of ', moment(report.created_at));
  main.replaceChildren(...[...parts, created].filter((part) => part instanceof Node));
  say(document.title);
}

function tell(line) {
  latest = null;
  main.replaceChildren(words(line));
  say(line);
}

const post = (message) => window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
const notify = (method, params = {}) => post({ method, params });

function request(method, params) {
  const id = ++last;
  post({ id, method, params });
  return new Promise((answered) => waiting.set(id, answered)).then(({ error, result }) => {
    if (error) throw new Error(text(object(error).message));
    return object(result);
  });
}

const COLOURS = ['background-primary', 'background-secondary', 'text-primary', 'text-secondary', 'border-primary'].map((name) => `--color-${name}`);

/** Applies the theme of the host. Colours are applied only as a complete set, because a part of it may be unreadable. */
function adapt(context) {
  const root = document.documentElement;
  if (['light', 'dark'].includes(context.theme)) root.style.colorScheme = context.theme;
  const given = object(object(context.styles).variables);
  const wanted = COLOURS.every((name) => given[name]) ? COLOURS : [];
  for (const name of wanted) root.style.setProperty(name, text(given[name]));
  if (wanted.length > 0) root.classList.add('hosted');
}

/** Returns the structured content of a tool result, else its text parsed as JSON. */
function valueOf(result) {
  if (result.structuredContent !== undefined) return result.structuredContent;
  try {
    return JSON.parse(list(result.content).find((block) => block.type === 'text').text);
  } catch {
    return undefined;
  }
}

/** Fields of a summary that a run does not have. The argument `fields` may have removed some of them. */
const SUMMARY = ['target_type', 'target_id', 'all_passed', 'finished', 'total', 'verdicts', 'failures', 'passed_after_retry', 'passed_with_bugs', 'comparison', 'history'];
const saidIn = (result) => list(result.content).map((block) => text(object(block).text)).join('\n') || 'There is no result.';

function receive(result, can) {
  const value = valueOf(result);
  if (result.isError || (value ?? null) === null) return tell(saidIn(result));
  const report = SUMMARY.some((name) => name in object(value)) ? { summary: value } : { run: object(value) };
  latest = report;
  show(report);
  if (can.serverTools && report.run) loadBugs(report);
  if (can.serverResources) loadPictures(report);
}

/** Requests the bugs of a run, which its record does not contain. */
async function loadBugs(report) {
  const run_id = text(report.run.multiplayer_run_id) || text(input.run_id);
  if (!run_id || object(report.run.bug_info).bug_count === 0) return;
  const refused = (error) => ({ isError: true, content: [{ text: error.message }] });
  const answer = await request('tools/call', { name: 'list_run_bugs', arguments: { run_id, project_id: input.project_id } }).catch(refused);
  if (latest !== report) return;
  const { data, pagination } = object(valueOf(answer));
  if (answer.isError || !Array.isArray(data)) report.unread = [...list(report.unread), { what: 'Bugs', why: saidIn(answer) }];
  else Object.assign(report, { bugs: data, bugs_found: number(object(pagination).total_count) });
  show(report);
}

/** The largest number of runs whose pictures a view requests. */
const MOST_RUNS = 5;

/** Requests the pictures of the failed runs, one run after the other. */
async function loadPictures(report) {
  const run = object(report.run);
  const own = text(run.multiplayer_run_id) || text(input.run_id);
  const failed = list(object(report.summary).failures).flatMap((one) => list(object(one).run_ids)).map(text).filter(Boolean);
  const ids = own ? [own] : [...new Set(failed)];
  const project = text(run.project_id) || text(input.project_id);
  const album = { items: [], unread: [], left_out: 0, left_out_runs: Math.max(ids.length - MOST_RUNS, 0) };
  for (const id of ids.slice(0, MOST_RUNS)) {
    const uri = `tas://${project && `projects/${encodeURIComponent(project)}/`}runs/${encodeURIComponent(id)}/pictures`;
    const found = await request('resources/read', { uri }).then(({ contents }) => object(JSON.parse(object(list(contents)[0]).text)))
      .catch((error) => ({ unread: [{ what: `Pictures of ${id}`, why: error.message }] }));
    if (latest !== report) return;
    album.items.push(...list(found.items));
    album.unread.push(...list(found.unread));
    album.left_out += number(found.left_out) ?? 0;
  }
  if (album.items.length + album.unread.length + album.left_out > 0) show(Object.assign(report, { pictures: album }));
}

function measure() {
  const { height } = document.documentElement.getBoundingClientRect();
  notify('ui/notifications/size-changed', { width: window.innerWidth, height: Math.ceil(height) });
}

async function connect() {
  let can = {};
  const heard = {
    'ui/notifications/tool-input': (params) => { input = object(params.arguments); },
    'ui/notifications/tool-result': (params) => receive(params, can),
    'ui/notifications/tool-cancelled': (params) => tell(`Cancelled. ${text(params.reason)}`),
    'ui/notifications/host-context-changed': adapt,
  };
  window.addEventListener('message', (event) => {
    const message = object(event.data);
    if (event.source !== window.parent || message.jsonrpc !== '2.0') return;
    if (message.method === undefined) {
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    } else if (message.id === undefined) heard[message.method]?.(object(message.params));
    else if (['ping', 'ui/resource-teardown'].includes(message.method)) post({ id: message.id, result: {} });
    else post({ id: message.id, error: { code: -32601, message: 'Method not found' } });
  });
  tell('Waiting for the result …');
  const appInfo = { name: 'tas-run-report', version: '1' };
  const host = await request('ui/initialize', { protocolVersion: '2026-01-26', appInfo, appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] } });
  can = object(host.hostCapabilities);
  adapt(object(host.hostContext));
  notify('ui/notifications/initialized');
  new ResizeObserver(measure).observe(document.documentElement);
}

/** Opens the row that the address of the page names, if there is one. */
const reachNamed = () => reach(decodeURIComponent(location.hash.slice(1).replace(/%(?![\da-f]{2})/gi, '%25')));

const held = JSON.parse(document.getElementById('data').textContent);
if (held.run || held.summary) {
  show(held);
  reachNamed();
  window.addEventListener('hashchange', reachNamed);
} else if (window.parent !== window) connect().catch((error) => tell(`The host did not begin: ${text(error.message)}`));
