// The view of MCP Apps: JSON-RPC over postMessage (revision 2026-01-26 of the extension).

const waiting = new Map();
let last = 0;
let input = {};
// The report of the last result. Answers to requests for an earlier result are ignored.
let latest = null;

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
  for (const name of [...wanted, '--font-sans', '--font-mono']) {
    if (given[name]) root.style.setProperty(name, text(given[name]));
  }
  if (wanted.length > 0) root.classList.add('hosted');
  reader.locale = context.locale ?? reader.locale;
  reader.timeZone = context.timeZone ?? reader.timeZone;
}

/** Fields of steps that fit into a reply if the whole record does not. */
const BARE = [
  ...['player_number', 'platform', 'result', 'state'],
  ...['step_number', 'start_time', 'end_time', 'duration_ms', 'run_state', 'run_result', 'test.goal'].map((name) => `steps.${name}`),
].map((name) => `players.${name}`);

/** Requests the parts that a run lacks, if the host allows requests of the view. */
function complete(report, host) {
  const run = object(report.run);
  const run_id = text(run.multiplayer_run_id) || text(input.run_id);
  if (!report.run || !run_id || !object(host.hostCapabilities).serverTools) return;
  const ask = async (what, name, found, asked) => {
    const answer = await request('tools/call', { name, arguments: { run_id, project_id: input.project_id, ...asked } }).catch(failed);
    if (latest !== report) return;
    const news = !answer.isError && found(object(valueOf(answer)));
    show(Object.assign(report, news || { unread: [...list(report.unread), { what, why: saidIn(answer) }] }));
  };
  if (number(object(run.bug_info).bug_count) !== 0) ask('Bugs', 'list_run_bugs', foundBugs);
  if (lacksSteps(run)) ask('More steps', 'get_run', (bare) => bare.players && { run: completed(run, bare) }, { fields: BARE });
}

/** The largest number of runs whose pictures a view requests. */
const MOST_RUNS = 5;

/** Requests the pictures of the failed runs, one run after the other, if the host lets the view read resources. */
async function loadPictures(report, host) {
  if (!object(host.hostCapabilities).serverResources) return;
  const { run, summary } = report;
  const failed = list(object(summary).failures).flatMap((one) => list(object(one).run_ids));
  const own = text(object(run).multiplayer_run_id) || text(input.run_id);
  const ids = own ? [own] : [...new Set(failed.map(text).filter(Boolean))];
  const project = text(object(run).project_id) || text(input.project_id);
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

/** Returns the bugs and their total number: a page of the list may contain fewer, and may have been cut. */
function foundBugs({ data, pagination, truncated }) {
  const cut = list(object(truncated).cuts).map(object).find((one) => one.path === '/data');
  const all = Math.max(number(object(pagination).total_count), list(data).length + number(object(cut).omitted));
  return Array.isArray(data) && { bugs: data, bugs_found: all };
}

/** Returns the result for a request that the host refused. */
const failed = (error) => ({ isError: true, content: [{ text: error.message }] });
const saidIn = (result) => list(result.content).map((block) => text(object(block).text)).join('\n') || 'There is no result.';

function receive(result, host) {
  const report = reportOf(result);
  if (result.isError || !report) return tell(saidIn(result));
  latest = report;
  show(report);
  complete(report, host);
  loadPictures(report, host);
}

function measure() {
  const { height } = document.documentElement.getBoundingClientRect();
  notify('ui/notifications/size-changed', { width: window.innerWidth, height: Math.ceil(height) });
}

async function connect() {
  let host = {};
  const heard = {
    'ui/notifications/tool-input': (params) => { input = object(params.arguments); },
    'ui/notifications/tool-result': (params) => receive(params, host),
    'ui/notifications/tool-cancelled': (params) => tell(`Cancelled. ${text(params.reason)}`),
    'ui/notifications/host-context-changed': adapt,
  };
  window.addEventListener('message', (event) => {
    const message = object(event.data);
    if (event.source !== window.parent || message.jsonrpc !== '2.0') return;
    if (message.method === undefined) {
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    } else if (message.id === undefined) {
      heard[message.method]?.(object(message.params));
    } else if (['ping', 'ui/resource-teardown'].includes(message.method)) {
      post({ id: message.id, result: {} });
    } else {
      post({ id: message.id, error: { code: -32601, message: 'Method not found' } });
    }
  });
  tell('Waiting for the result …');
  host = await request('ui/initialize', {
    protocolVersion: '2026-01-26',
    appInfo: { name: 'tas-run-report', version: '1' },
    appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
  });
  adapt(object(host.hostContext));
  notify('ui/notifications/initialized');
  new ResizeObserver(measure).observe(document.documentElement);
}
