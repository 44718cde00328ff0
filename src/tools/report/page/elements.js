'use strict';
// Builds the elements of the page. Text of the service becomes text nodes, never markup.

const HIDDEN = /[\u061C\u00AD\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g;
const list = (value) => (Array.isArray(value) ? value : []);
const object = (value) => (value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {});
const number = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : null);
const same = (one, other) => String(one).toLowerCase() === other;
const plural = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;
const joined = (parts, sign = ' · ') => parts.map(text).filter(Boolean).join(sign);

/** Returns any value as text without hidden characters; objects as JSON. */
function text(value) {
  if ((value ?? '') === '' || value === false) return '';
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).replace(HIDDEN, '');
}

/** Creates an element. Children are nodes or values; empty ones are omitted. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if ((value ?? '') !== '') element.setAttribute(name, value);
  }
  element.append(...children.flat().filter(isFilled).map((child) => (child instanceof Node ? child : text(child))));
  return element;
}

const isFilled = (value) => value instanceof Node || text(value) !== '';

/** Creates an element for foreign text, with its own text direction. */
const words = (value, kind = 'text') => (text(value) === '' ? null : make('p', { class: kind, dir: 'auto' }, value));
const span = (kind, value) => make('span', { class: kind, dir: 'auto' }, value);
const titled = (value) => span('title text', value);
const below = (value) => (value === '' ? null : span('muted more', value));

/** Creates a list of names and values; names without a value are omitted. */
function facts(pairs, kind = 'facts') {
  const shown = pairs.filter(([, value]) => isFilled(value)).map(([name, value]) =>
    make('div', {}, make('dt', {}, name), make('dd', { class: 'text', dir: 'auto' }, value)));
  return shown.length > 0 ? make('dl', { class: kind }, shown) : null;
}

function section(heading, ...children) {
  const filled = children.flat().filter((child) => child instanceof Node);
  if (filled.length === 0) return null;
  const id = `part-${(section.count = (section.count ?? 0) + 1)}`;
  return make('section', { 'aria-labelledby': id }, make('h2', { id }, heading), filled);
}

const items = (tag, kind, rows) => (rows.length > 0 ? make(tag, { class: kind, role: 'list' }, rows.map((row) => make('li', {}, row))) : null);

/** Creates a row that can be opened. */
function folded(isOpen, head, inside) {
  const filled = inside.flat().filter(isFilled);
  if (filled.length === 0) return make('div', { class: 'row', tabindex: -1 }, head);
  const details = make('details', {}, make('summary', {}, head), make('div', { class: 'inside' }, filled));
  details.open = isOpen;
  return details;
}

/** Opens the row with this id, if there is one, and moves the focus to it. */
function reach(place) {
  const row = document.getElementById(place);
  if (row?.matches('details')) row.open = true;
  row?.scrollIntoView({ block: 'center' });
  (row?.querySelector('summary') ?? row)?.focus();
}

/** Creates a link to another row of this page. The address of the page then leads to the row, unless a host shows it. */
function jump(place, label) {
  const anchor = make('a', { href: `#${encodeURIComponent(place)}` }, label);
  anchor.addEventListener('click', (event) => {
    event.preventDefault();
    if (window.parent === window) history.replaceState(null, '', anchor.href);
    reach(place);
  });
  return anchor;
}

/** Links a label to an address of the web, unless a host shows the page. An address with a user or a query is not shown: it may be a permission. */
function linked(label, address) {
  const { href, protocol, username, password, search } = URL.parse(text(address)) ?? {};
  if (window.parent !== window || !['http:', 'https:'].includes(protocol) || username || password || search) return label;
  return make('a', { href, target: '_blank', rel: 'noopener noreferrer' }, label);
}

function duration(ms) {
  if (number(ms) === null || ms < 0) return '';
  const seconds = Math.round(ms / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (hours > 0) return `${hours}h ${String(minutes).padStart(2, '0')}m`;
  return minutes > 0 ? `${minutes}m ${String(rest).padStart(2, '0')}s` : `${rest}s`;
}

function size(bytes) {
  if (number(bytes) === null) return '';
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const shown = bytes / 1000 ** step;
  return `${step > 0 && shown < 10 ? shown.toFixed(1) : Math.round(shown)} ${units[step]}`;
}

const time = (value) => (text(value) === '' ? NaN : Date.parse(text(value)));
const WITH_ZONE = { year: 'numeric', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' };

function moment(value) {
  const at = time(value);
  if (Number.isNaN(at)) return text(value);
  return make('time', { datetime: new Date(at).toISOString() }, new Date(at).toLocaleString(undefined, WITH_ZONE));
}

/** Returns the duration of a record, according to its field or to its times. */
const lasted = (record, start = 'started_at', end = 'completed_at') => duration(number(record.duration_ms) ?? time(record[end]) - time(record[start]));

/** Class and sign of each word of the service, the worst first. Unknown words are shown unchanged. */
const VERDICTS = {
  error: ['fail', '!'], failed: ['fail', '✕'], blocked: ['warn', '!'], timeout: ['warn', '!'], max_steps: ['warn', '!'], stopped: ['warn', '!'],
  no_run: ['warn', '!'], no_result: ['warn', '?'], skipped: ['', '–'], pending: ['', '…'], running: ['run', '…'], unfinished: ['run', '…'],
  in_progress: ['run', '…'], initializing: ['', '…'], queued: ['', '…'], completed: ['', ''], success: ['pass', '✓'], passed: ['pass', '✓'],
};
/** Words that this program adds to those of the service. The others are in capitals everywhere. */
const ADDED = ['no_run', 'no_result', 'unfinished'];
const place = (word) => Object.keys(VERDICTS).indexOf(text(word).toLowerCase());

/** Returns the class, the sign and the label of a word. */
function known(word) {
  const key = Object.keys(VERDICTS)[place(word)];
  return key ? [...VERDICTS[key], ADDED.includes(key) ? key : key.toUpperCase()] : ['', '?', text(word)];
}
const isBad = (word) => ['fail', 'warn'].includes(known(word)[0]);
const passed = (word) => known(word)[0] === 'pass';
/** Returns the rank of a verdict: the worst first, SUCCESS last. */
const rank = (word) => (place(word) < 0 ? 8.5 : place(word));

/** Shows a verdict as a label with a sign, because colour alone is not accessible. Shows nothing without a verdict. */
function verdict(word, more) {
  if (text(word) === '') return more && span('muted', more);
  const [kind, sign, said] = known(word);
  return make('span', { class: `verdict ${kind}` }, sign && make('span', { 'aria-hidden': 'true' }, sign), make('span', {}, said, more));
}

/** Returns the verdict of a record, else its state. */
const outcome = (record, result = 'result', state = 'state') => text(record[result]) || text(record[state]);

/** Creates the head of the page. */
function heading(kind, title, word) {
  document.title = joined([text(word) && known(word)[2], title], ': ');
  return make('header', {}, words(kind, 'muted'), make('div', { class: 'head' }, make('h1', { dir: 'auto' }, title), verdict(word)));
}

/** Shows counts as a proportional bar and as text. */
function counted(counts, label) {
  const filled = Object.entries(object(counts)).filter(([, count]) => number(count) > 0).sort(([one], [other]) => rank(one) - rank(other));
  if (filled.length === 0) return null;
  const bars = filled.map(([word, count]) => Object.assign(make('span', { class: known(word)[0] || 'muted' }), { style: `flex-grow: ${count}` }));
  const rows = filled.map(([word, count]) => verdict(word, ` ${count}`));
  return make('div', { class: 'gap', role: 'group', 'aria-label': label }, words(label, 'muted'),
    make('div', { class: 'share', 'aria-hidden': 'true' }, bars), items('ul', 'counts', rows));
}

/** Describes what is missing from a report, and why. */
function missing({ unread, left_out: left, truncated }) {
  const lines = list(unread).map((one) => `${text(object(one).what) || 'Something'} could not be read: ${text(object(one).why) || text(one)}`);
  const { how, ...counts } = object(left);
  lines.push(...Object.entries(counts).map(([what, count]) => `${text(count)} more of ${text(what).replaceAll(/[._]/g, ' ')}. ${text(how)}`));
  if (truncated) lines.push(joined(['This report was shortened', object(truncated).hint], ': '));
  return lines.map((line) => words(line, 'note'));
}
