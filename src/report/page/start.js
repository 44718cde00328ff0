// Draws what the page holds; without it, what a host of MCP Apps sends.

const main = document.getElementById('report');
const say = (words) => { document.getElementById('status').textContent = words; };

/** Shows a report. Whatever it looks like, something readable appears. */
function show(report) {
  let parts;
  try {
    parts = report.summary ? summaryPage(object(report.summary), report) : runPage(object(report.run), report);
  } catch (error) {
    parts = [words('This report has a form that the page does not know.', 'note'), make('pre', {}, JSON.stringify(report, null, 2))];
    console.error(error);
  }
  main.replaceChildren(...parts.filter((part) => part instanceof Node));
  if (report.made_by) main.append(make('footer', {}, words(report.made_by, 'muted')));
  say(document.title);
}

function tell(line) {
  latest = null;
  main.replaceChildren(words(line));
  say(line);
}

const isSummary = (value) => 'verdicts' in value || 'target_type' in value;

/** What the result of a tool says: as structure, else as text. */
function valueOf(result) {
  if (result.structuredContent !== undefined) return result.structuredContent;
  try {
    return JSON.parse(list(result.content).find((block) => block.type === 'text').text);
  } catch {
    return undefined;
  }
}

/** The result of a tool as a report. */
function reportOf(result) {
  const value = valueOf(result);
  if (value === undefined) return null;
  return isSummary(object(value)) ? { summary: value } : { run: object(value) };
}

const held = JSON.parse(document.getElementById('data').textContent);
origins = list(held.origins);
if (held.run || held.summary) show(held);
else if (window.parent !== window) connect().catch((error) => tell(`The host did not begin: ${text(error.message)}`));
