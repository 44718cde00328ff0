// The view's side of MCP Apps: JSON-RPC over postMessage (revision 2026-01-26 of the extension).

const waiting = new Map();
let last = 0;
let input = {};
// The report of the last result; what was asked for an earlier one comes too late.
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

const COLOURS = ['--color-background-primary', '--color-background-secondary', '--color-text-primary', '--color-text-secondary', '--color-border-primary'];

/** Takes over how the host looks: colours only as a whole, since half a set may not be readable. */
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

/** The bugs of a run, where the host lets the view ask. */
async function addBugs(report, host) {
  const found = number(object(object(report.run).bug_info).bug_count);
  const run_id = text(object(report.run).multiplayer_run_id);
  if (!(found > 0) || !run_id || !object(host.hostCapabilities).serverTools) return;
  const asked = { run_id, project_id: input.project_id };
  const answer = await request('tools/call', { name: 'list_run_bugs', arguments: asked }).catch(failed);
  if (latest !== report) return;
  const bugs = !answer.isError && object(valueOf(answer)).data;
  show({ ...report, ...(Array.isArray(bugs) ? { bugs } : { unread: [{ what: 'Bugs', why: saidIn(answer) }] }) });
}

/** A request that the host refused, as a result. */
const failed = (error) => ({ isError: true, content: [{ text: error.message }] });
const saidIn = (result) => list(result.content).map((block) => text(object(block).text)).join('\n') || 'There is no result.';

function receive(result, host) {
  const report = reportOf(result);
  if (result.isError || !report) return tell(saidIn(result));
  latest = report;
  show(report);
  return addBugs(report, host);
}

/** Has the host open a link; where it does not, that is seen beside the link. */
async function openLink(anchor) {
  const { isError } = await request('ui/open-link', { url: anchor.href }).catch(failed);
  if (!isError || anchor.title) return;
  anchor.title = 'The host did not open the link.';
  anchor.after(span('muted', ` ${anchor.title}`));
  say(anchor.title);
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
  opens = openLink;
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
