'use strict';
// What both kinds of report are made of. Text of the service becomes text nodes, never markup.

const HIDDEN = /[\u061C\u00AD\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g;
const list = (value) => (Array.isArray(value) ? value : []);
const object = (value) => (value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {});
const number = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : null);
const same = (one, other) => String(one).toLowerCase() === other;

/** Any value as text that reads in the order in which it is written. */
function text(value) {
  if ((value ?? '') === '') return '';
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).replace(HIDDEN, '');
}

/** An element. Children are nodes or values; empty ones are left out. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if ((value ?? '') !== '') element.setAttribute(name, value);
  }
  for (const child of children.flat()) {
    if (child instanceof Node) element.append(child);
    else if (text(child) !== '') element.append(text(child));
  }
  return element;
}

/** Text that somebody wrote: its direction is its own. */
const words = (value, kind = 'text') => (text(value) === '' ? null : make('p', { class: kind, dir: 'auto' }, value));
const span = (kind, value) => make('span', { class: kind, dir: 'auto' }, value);

// Words of the service: class, sign, what people read. Unknown ones are shown as they are.
const VERDICTS = {
  success: ['pass', '✓', 'Passed'], passed: ['pass', '✓', 'Passed'],
  failed: ['fail', '✕', 'Failed'], error: ['fail', '!', 'Error'],
  timeout: ['warn', '!', 'Timed out'], max_steps: ['warn', '!', 'Timed out'],
  blocked: ['warn', '!', 'Blocked'], stopped: ['warn', '!', 'Stopped'],
  no_run: ['warn', '!', 'Not run'], no_result: ['warn', '?', 'No result'],
  skipped: ['', '–', 'Skipped'], pending: ['', '…', 'Pending'],
  running: ['run', '…', 'Running'], unfinished: ['run', '…', 'Not finished'], in_progress: ['run', '…', 'Running'],
  initializing: ['', '…', 'Waiting'], queued: ['', '…', 'Queued'],
  completed: ['', '', 'Completed'],
};
const WORST = ['error', 'failed', 'blocked', 'timeout', 'max_steps', 'stopped', 'no_run', 'no_result'];
/** What a table of ours says of a word of others, which may be the name of anything. */
const told = (table, word) => Object.entries(table).find(([key]) => same(text(word), key))?.[1];
const known = (word) => told(VERDICTS, word) ?? ['', '?', text(word) || 'Unknown'];
const passed = (word) => known(word)[0] === 'pass';

/** How bad a verdict is: the worst first, what passed last. */
function rank(word) {
  const place = WORST.indexOf(text(word).toLowerCase());
  if (place >= 0) return place;
  return passed(word) ? 99 : 50;
}

/** A verdict as a word with a sign; colour alone says nothing. */
function verdict(word, more) {
  const [kind, sign, said] = known(word);
  const mark = sign && make('span', { 'aria-hidden': 'true' }, sign);
  return make('span', { class: `verdict ${kind}` }, mark, make('span', {}, said, more));
}

/** The verdict of a record, else its state while it is under way. */
const outcome = (record, result = 'result', state = 'state') => text(record[result]) || text(record[state]);

function duration(ms) {
  if (number(ms) === null || ms < 0) return '';
  if (ms < 10_000) return `${Math.round(ms / 100) / 10} s`;
  const seconds = Math.round(ms / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return [[hours, 'h'], [minutes, 'min'], [rest, 's']].filter(([count]) => count > 0).map((part) => part.join(' ')).join(' ');
}

function size(bytes) {
  if (number(bytes) === null) return '';
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const shown = bytes / 1000 ** step;
  return `${step > 0 && shown < 10 ? shown.toFixed(1) : Math.round(shown)} ${units[step]}`;
}

const place = { locale: undefined, timeZone: undefined };

function moment(value) {
  const at = new Date(text(value));
  if (text(value) === '' || Number.isNaN(at.getTime())) return text(value);
  const style = { dateStyle: 'medium', timeStyle: 'medium' };
  let shown;
  try {
    shown = at.toLocaleString(place.locale, { ...style, timeZone: place.timeZone });
  } catch {
    shown = at.toLocaleString(undefined, style);
  }
  return make('time', { datetime: at.toISOString() }, shown);
}

const plural = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;
const isFilled = (value) => value instanceof Node || text(value) !== '';

/** Names and values; what has no value is left out. */
function facts(pairs, kind = 'facts') {
  const filled = pairs.filter(([, value]) => isFilled(value));
  const shown = filled.map(([name, value]) =>
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

/** A row that opens. */
function folded(isOpen, head, inside) {
  const filled = inside.flat().filter(isFilled);
  if (filled.length === 0) return make('div', { class: 'row' }, head);
  const details = make('details', {}, make('summary', {}, head), make('div', { class: 'inside' }, filled));
  details.open = isOpen;
  return details;
}

let origins = [];
let opens = null;

/** A link where the address is one of the service; any other address stays text. */
function link(address, label) {
  let url = null;
  try {
    url = new URL(text(address));
  } catch {
    // No address, then.
  }
  if (!url || !['http:', 'https:'].includes(url.protocol) || !origins.includes(url.origin)) return span('', label);
  const anchor = make('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer', dir: 'auto' }, label);
  anchor.addEventListener('click', (event) => {
    if (!opens) return;
    event.preventDefault();
    opens(anchor);
  });
  return anchor;
}

/** What the whole page begins with. */
function heading(kind, title, word, more) {
  document.title = `${known(word)[2]}: ${text(title)}`;
  return make('header', {}, words(kind, 'muted'),
    make('div', { class: 'head' }, make('h1', { dir: 'auto' }, title), verdict(word, more)));
}

/** Counts of words: a bar in proportion, and the numbers as text. */
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

/** What is missing from a report, and why. */
function missing(report) {
  const unread = list(report.unread).map((one) => `${text(object(one).what) || 'Something'} could not be read: ${text(object(one).why) || text(one)}`);
  const { how, ...counts } = object(report.left_out);
  const left = Object.entries(counts).map(([what, count]) => `${text(count)} more of ${text(what).replaceAll(/[._]/g, ' ')}. ${text(how)}`);
  const cut = report.truncated ? [`This report was shortened: ${text(object(report.truncated).message ?? report.truncated)}`] : [];
  return [...unread, ...left, ...cut].map((line) => words(line, 'note'));
}
