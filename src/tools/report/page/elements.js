'use strict';
// What the page is built of. Text of the service becomes text nodes, never markup.

const HIDDEN = /[\u061C\u00AD\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g;

const list = (value) => (Array.isArray(value) ? value : []);
const object = (value) => (value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {});
const objects = (value) => list(value).map(object);
const number = (value) => (Number.isFinite(value) ? value : null);
const plural = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;
const joined = (parts, sign = ' · ') => parts.map(text).filter(Boolean).join(sign);

/** Returns any value as text without hidden characters; objects as JSON. */
function text(value) {
  if (value === undefined || value === null || value === false) return '';
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).replace(HIDDEN, '');
}

const isFilled = (value) => value instanceof Node || text(value) !== '';

/** Creates an element. Children are nodes or values; empty ones are omitted. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (isFilled(value)) element.setAttribute(name, value);
  }

  const filled = children.flat(Infinity).filter(isFilled);
  element.append(...filled.map((child) => (child instanceof Node ? child : text(child))));
  return element;
}

// Foreign text has its own text direction.
const span = (kind, value) => make('span', { class: kind, dir: 'auto' }, value);
const titled = (value) => span('title text', value);
const below = (value) => isFilled(value) && span('muted more', value);
const words = (value, kind = 'text') => isFilled(value) && make('p', { class: kind, dir: 'auto' }, value);

/** Creates a part of the page with a heading, if there is anything in it. */
function section(heading, ...children) {
  const filled = children.flat(Infinity).filter((child) => child instanceof Node);
  return filled.length > 0 && make('section', { 'aria-label': heading }, make('h2', { dir: 'auto' }, heading), filled);
}

/** Creates a list of names and values; names without a value are omitted. */
function facts(pairs, kind = 'parts') {
  const shown = pairs.filter(([, value]) => isFilled(value)).map(([name, value]) =>
    make('div', {}, make('dt', {}, name), make('dd', { class: 'text', dir: 'auto' }, value)));
  return shown.length > 0 && make('dl', { class: kind }, shown);
}

function items(tag, kind, rows) {
  return rows.length > 0 && make(tag, { class: kind, role: 'list' }, rows.map((row) => make('li', {}, row)));
}

/** Creates a row that can be opened if there is something inside. */
function folded(id, isOpen, head, inside) {
  const filled = inside.filter(isFilled);
  if (filled.length === 0) return make('div', { class: 'row', id, tabindex: -1 }, head);

  const details = make('details', { id }, make('summary', {}, head), make('div', { class: 'inside' }, filled));
  details.open = isOpen;
  return details;
}

/** Creates a link to another row of this page, which opens the row and moves the focus to it. */
function jump(id, label) {
  const anchor = make('a', { href: `#${encodeURIComponent(id)}` }, label);
  anchor.addEventListener('click', (event) => {
    event.preventDefault();
    const row = document.getElementById(id);
    if (row?.matches('details')) row.open = true;
    row?.scrollIntoView({ block: 'center' });
    (row?.querySelector('summary') ?? row)?.focus();
  });
  return anchor;
}

/** Links to an address of the web; not in a host, and not if a user or a query in the address may be a permission. */
function linked(label, address, otherwise = label) {
  const { href, protocol, username, password, search } = URL.parse(text(address)) ?? {};
  const isPlain = ['http:', 'https:'].includes(protocol) && !username && !password && !search;
  if (window.parent !== window || !isPlain) return otherwise;
  return make('a', { href, target: '_blank', rel: 'noopener noreferrer' }, label);
}

const time = (value) => (typeof value === 'string' ? Date.parse(value) : NaN);

function moment(value) {
  const at = new Date(time(value));
  if (Number.isNaN(at.getTime())) return text(value);
  return make('time', { datetime: at.toISOString() }, at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' }));
}

/** Returns the duration of a record, according to its field or to its times. */
function lasted(record, start = 'started_at', end = 'completed_at') {
  const ms = number(record.duration_ms) ?? time(record[end]) - time(record[start]);
  if (!(ms >= 0)) return '';

  const all = Math.round(ms / 1000);
  const [hours, minutes, seconds] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  if (hours > 0) return `${hours}h ${String(minutes).padStart(2, '0')}m`;
  return minutes > 0 ? `${minutes}m ${String(seconds).padStart(2, '0')}s` : `${seconds}s`;
}

/** The words of the service and of the summary with their class and sign, the worst first. */
const VERDICTS = [
  ['fail', '✕', 'ERROR FAILED'],
  ['warn', '!', 'BLOCKED TIMEOUT MAX_STEPS STOPPED no_run no_result'],
  ['', '–', 'SKIPPED COMPLETED'],
  ['', '…', 'PENDING QUEUED INITIALIZING'],
  ['run', '…', 'RUNNING IN_PROGRESS'],
  ['', '?', ''],
  ['pass', '✓', 'SUCCESS PASSED'],
].flatMap(([kind, sign, all]) => all.split(' ').map((word) => ({ kind, sign, word })));

/** Returns what is known of a word. Unknown ones are shown unchanged, and come before those that passed. */
function known(word) {
  const isSame = (one) => one.word.toLowerCase() === text(word).toLowerCase();
  return VERDICTS.find(isSame) ?? VERDICTS.find((one) => one.word === '');
}

const isBad = (word) => ['fail', 'warn'].includes(known(word).kind);
const byRank = (one, other) => VERDICTS.indexOf(known(one)) - VERDICTS.indexOf(known(other));

/** Returns the verdict of a record, else its state. */
const outcome = (record) => text(record.result) || text(record.state);

/** Shows a verdict as a label with a sign, because colour alone is not accessible. */
function verdict(word, more) {
  const { kind, sign, word: said } = known(word);
  return text(word) !== '' && make('span', { class: `verdict ${kind}` },
    make('span', { 'aria-hidden': 'true' }, sign), make('span', {}, said || word, more));
}

/** Creates the head of the page. */
function heading(kind, title, word) {
  document.title = joined([known(word).word || word, title], ': ');
  return make('header', {}, words(kind, 'muted'),
    make('div', { class: 'head' }, make('h1', { dir: 'auto' }, title), verdict(word)));
}

/** Describes what is missing from the parts of a report, and why, each once. */
function missing(...parts) {
  const lines = parts.map(object).flatMap(({ unread, left_out: left, truncated }) => {
    const { how, ...counts } = object(left);
    const unreadable = list(unread).map((one) => [object(one).what, object(one).why ?? one]);
    const omitted = Object.entries(counts).map(([what, count]) => [`${text(count)} of ${text(what)}`, how]);
    const shortened = truncated ? [['a part of the record', object(truncated).hint]] : [];
    return [...unreadable, ...omitted, ...shortened].map((line) => joined(['Missing', ...line], ': '));
  });
  return [...new Set(lines)].map((line) => words(line, 'note'));
}
