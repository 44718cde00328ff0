// Shows the data of the page, or the result that a host of MCP Apps sends: JSON-RPC over postMessage (2026-01-26).

/** Fields of a summary that a run does not have. The argument `fields` may have removed some of them. */
const OF_SUMMARY = ['target_type', 'finished', 'total', 'verdicts', 'failures', 'passed_with_bugs', 'comparison'];

/** The largest number of runs whose pictures a view requests. */
const MOST_RUNS = 5;

const main = document.getElementById('report');

// The report of the last result. Answers to requests for an earlier result are ignored.
let latest = null;
let input = {};
const waiting = [];

function show(report) {
  const parts = report.run ? runPage(report.run, report) : summaryPage(object(report.summary), report);
  const created = report.created_at && make('p', { class: 'muted created' }, 'Report of ', moment(report.created_at));
  main.replaceChildren(...[parts, created].flat(Infinity).filter((part) => part instanceof Node));
}

function tell(line) {
  latest = null;
  main.replaceChildren(make('p', { role: 'status' }, line));
}

const post = (message) => window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');

async function request(method, params) {
  const { promise, resolve } = Promise.withResolvers();
  post({ id: waiting.push(resolve) - 1, method, params });

  const { error, result } = await promise;
  if (error) throw new Error(text(object(error).message));
  return object(result);
}

/** Returns the structured content of a tool result, else its text parsed as JSON. */
function valueOf({ structuredContent, content }) {
  try {
    return structuredContent ?? JSON.parse(objects(content).find((block) => block.type === 'text').text);
  } catch {
    return null;
  }
}

function receive(result, can) {
  const value = valueOf(result);
  if (result.isError || value === null) {
    const said = objects(result.content).map((block) => text(block.text)).join('\n');
    return tell(said || 'There is no result.');
  }

  latest = OF_SUMMARY.some((name) => name in object(value)) ? { summary: value } : { run: object(value) };
  show(latest);
  if (can.serverResources) loadDetails(latest);
}

/** Requests the bugs and pictures of a run, or the pictures of the failed runs, one run after the other. */
async function loadDetails(report) {
  const own = report.run && (text(report.run.multiplayer_run_id) || text(input.run_id));
  const failed = objects(object(report.summary).failures).flatMap((one) => list(one.run_ids));
  const ids = own ? [own] : [...new Set(failed.map(text).filter(Boolean))];
  const project = text(object(report.run).project_id) || text(input.project_id);
  const pictures = { items: [], unread: [] };

  for (const id of ids.slice(0, MOST_RUNS)) {
    const uri = `tas://${project && `projects/${encodeURIComponent(project)}/`}runs/${encodeURIComponent(id)}/pictures`;
    const found = await request('resources/read', { uri })
      .then(({ contents }) => object(JSON.parse(contents[0].text)))
      .catch((error) => ({ unread: [{ what: `pictures of ${id}`, why: error.message }] }));
    if (latest !== report) return;

    pictures.items.push(...list(found.items));
    pictures.unread.push(...list(found.unread));
    if (own) Object.assign(report, { bugs: found.bugs, bugs_found: found.bugs_found });
  }
  if (ids.length > MOST_RUNS) pictures.unread.push({ what: `pictures of ${ids.length - MOST_RUNS} more runs` });
  show(Object.assign(report, { pictures }));
}

const adapt = ({ theme }) => { if (['light', 'dark'].includes(theme)) document.documentElement.style.colorScheme = theme; };

async function connect() {
  let can = {};
  const heard = {
    'ui/notifications/tool-input': (params) => { input = object(params.arguments); },
    'ui/notifications/tool-result': (params) => receive(params, can),
    'ui/notifications/tool-cancelled': (params) => tell(`Cancelled. ${text(params.reason)}`),
    'ui/notifications/host-context-changed': adapt,
  };
  window.addEventListener('message', ({ data, source }) => {
    const { jsonrpc, id, method, params } = object(data);
    if (source !== window.parent || jsonrpc !== '2.0') return;

    if (method === undefined) waiting[id]?.(data);
    else if (id === undefined) heard[method]?.(object(params));
    else if (['ping', 'ui/resource-teardown'].includes(method)) post({ id, result: {} });
    else post({ id, error: { code: -32601, message: 'Method not found' } });
  });

  tell('Waiting for the result …');
  const host = await request('ui/initialize', {
    protocolVersion: '2026-01-26',
    appInfo: { name: 'tas-run-report', version: '1' },
    appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
  });
  can = object(host.hostCapabilities);
  adapt(object(host.hostContext));
  post({ method: 'ui/notifications/initialized', params: {} });
  new ResizeObserver(() => {
    const { height } = document.documentElement.getBoundingClientRect();
    post({ method: 'ui/notifications/size-changed', params: { width: window.innerWidth, height: Math.ceil(height) } });
  }).observe(document.documentElement);
}

const held = JSON.parse(document.getElementById('data').textContent);
if (held.summary) show(held);
else if (window.parent !== window) connect().catch((error) => tell(`The host did not begin: ${text(error.message)}`));
