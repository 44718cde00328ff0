// The view's side of MCP Apps: JSON-RPC over postMessage (revision 2026-01-26 of the extension).

const waiting = new Map();
let last = 0;
let input = {};

const post = (message) => window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
const notify = (method, params = {}) => post({ method, params });

function request(method, params) {
  const id = ++last;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    post({ id, method, params });
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
  place.locale = context.locale ?? place.locale;
  place.timeZone = context.timeZone ?? place.timeZone;
}

/** The bugs of a run, where the host lets the view ask. */
async function addBugs(report, host) {
  const found = number(object(object(report.run).bug_info).bug_count);
  const run_id = text(object(report.run).multiplayer_run_id);
  if (!(found > 0) || !run_id || !object(host.hostCapabilities).serverTools) return;
  const project = input.project_id ? { project_id: input.project_id } : {};
  const answer = await request('tools/call', { name: 'list_run_bugs', arguments: { run_id, ...project } });
  const bugs = object(answer.structuredContent).data;
  if (!answer.isError && Array.isArray(bugs)) show({ ...report, bugs });
}

function receive(result, host) {
  const failed = () => list(result.content).map((block) => text(block.text)).join('\n');
  if (result.isError) return tell(failed());
  const report = reportOf(result);
  if (!report) return tell(failed() || 'There is no result.');
  show(report);
  return addBugs(report, host).catch(() => {});
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
      const { resolve, reject } = waiting.get(message.id) ?? {};
      waiting.delete(message.id);
      if (message.error) reject?.(new Error(text(object(message.error).message)));
      else resolve?.(object(message.result));
    } else if (message.id === undefined) {
      heard[message.method]?.(object(message.params));
    } else if (['ping', 'ui/resource-teardown'].includes(message.method)) {
      post({ id: message.id, result: {} });
    } else {
      post({ id: message.id, error: { code: -32601, message: 'Method not found' } });
    }
  });
  opens = (url) => request('ui/open-link', { url }).catch(() => say('The host did not open the link.'));
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
