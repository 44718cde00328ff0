// The words of the service and their appearance.

/** Class and sign of each word of the service. Unknown words are shown unchanged. */
const VERDICTS = {
  success: ['pass', '✓'], passed: ['pass', '✓'], failed: ['fail', '✕'], error: ['fail', '!'],
  timeout: ['warn', '!'], max_steps: ['warn', '!'], blocked: ['warn', '!'], stopped: ['warn', '!'],
  no_run: ['warn', '!'], no_result: ['warn', '?'], skipped: ['', '–'], pending: ['', '…'],
  running: ['run', '…'], unfinished: ['run', '…'], in_progress: ['run', '…'],
  initializing: ['', '…'], queued: ['', '…'], completed: ['', ''],
};
/** Words that this program adds to those of the service. The others are in capitals everywhere. */
const ADDED = ['no_run', 'no_result', 'unfinished'];
const WORST = ['error', 'failed', 'blocked', 'timeout', 'max_steps', 'stopped', 'no_run', 'no_result'];
/** Looks up a foreign word in a table. The word may be the name of any object property, such as `constructor`. */
const entry = (table, word) => Object.entries(table).find(([key]) => same(text(word), key)) ?? [];
const told = (table, word) => entry(table, word)[1];
/** Returns the class, the sign and the label of a word. */
function known(word) {
  const [key, appearance] = entry(VERDICTS, word);
  if (key === undefined) return ['', '?', text(word)];
  return [...appearance, ADDED.includes(key) ? key : key.toUpperCase()];
}
const isBad = (word) => ['fail', 'warn'].includes(known(word)[0]);
const passed = (word) => known(word)[0] === 'pass';

/** Returns the rank of a verdict: the worst first, SUCCESS last. */
function rank(word) {
  const place = WORST.indexOf(text(word).toLowerCase());
  if (place >= 0) return place;
  return passed(word) ? 99 : 50;
}

/** Shows a verdict as a label with a sign, because colour alone is not accessible. Shows nothing without a verdict. */
function verdict(word, more) {
  if (text(word) === '') return more && span('muted', more);
  const [kind, sign, said] = known(word);
  const mark = sign && make('span', { 'aria-hidden': 'true' }, sign);
  return make('span', { class: `verdict ${kind}` }, mark, make('span', {}, said, more));
}

/** Returns the verdict of a record, else its state. */
const outcome = (record, result = 'result', state = 'state') => text(record[result]) || text(record[state]);

/** Creates the head of the page. */
function heading(kind, title, word) {
  document.title = [text(word) && known(word)[2], text(title)].filter(Boolean).join(': ');
  return make('header', {}, words(kind, 'muted'),
    make('div', { class: 'head' }, make('h1', { dir: 'auto' }, title), verdict(word)));
}

/** Shows counts as a proportional bar and as text. */
function counted(counts, label) {
  const filled = Object.entries(object(counts)).filter(([, count]) => number(count) > 0);
  if (filled.length === 0) return null;
  filled.sort(([one], [other]) => rank(one) - rank(other));
  const bars = filled.map(([word, count]) => {
    const bar = make('span', { class: known(word)[0] || 'muted' });
    bar.style.flexGrow = count;
    return bar;
  });
  const rows = filled.map(([word, count]) => verdict(word, ` ${count}`));
  return make('div', { class: 'gap', role: 'group', 'aria-label': label }, words(label, 'muted'),
    make('div', { class: 'share', 'aria-hidden': 'true' }, bars), items('ul', 'counts', rows));
}
