// Shows the data of the page. A page without data waits for the result that a host of MCP Apps sends.

const main = document.getElementById('report');
const say = (words) => { document.getElementById('status').textContent = words; };

/** Shows a report. A report of unknown form is shown as JSON. */
function show(report) {
  let parts;
  try {
    if (report.trend) parts = trendPage(object(report.trend), report);
    else parts = report.run ? runPage(report.run, report) : summaryPage(object(report.summary), report);
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

/** Fields of a summary that a run does not have. The argument `fields` may have removed some of them. */
const SUMMARY = ['target_type', 'target_id', 'all_passed', 'finished', 'total', 'verdicts', 'failures', 'passed_after_retry', 'passed_with_bugs', 'comparison'];

/** Returns the structured content of a tool result, else its text parsed as JSON. */
function valueOf(result) {
  if (result.structuredContent !== undefined) return result.structuredContent;
  try {
    return JSON.parse(list(result.content).find((block) => block.type === 'text').text);
  } catch {
    return undefined;
  }
}

/** Converts the result of a tool into a report. */
function reportOf(result) {
  const value = valueOf(result);
  if ((value ?? null) === null) return null;
  return SUMMARY.some((name) => name in object(value)) ? { summary: value } : { run: object(value) };
}

/** Opens the row that the address of the page names. */
function reachNamed() {
  try {
    reach(decodeURIComponent(location.hash.slice(1)));
  } catch {
    // The address names no row.
  }
}

const held = JSON.parse(document.getElementById('data').textContent);
if (held.run || held.summary || held.trend) {
  show(held);
  reachNamed();
  window.addEventListener('hashchange', reachNamed);
}
else if (window.parent !== window) connect().catch((error) => tell(`The host did not begin: ${text(error.message)}`));
