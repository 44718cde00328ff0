'use strict';
// Builds the elements of the page. Text of the service becomes text nodes, never markup.

const HIDDEN = /[\u061C\u00AD\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g;
const list = (value) => (Array.isArray(value) ? value : []);
const object = (value) => (value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {});
const number = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : null);
const same = (one, other) => String(one).toLowerCase() === other;

/** Returns any value as text without hidden characters; objects as JSON. */
function text(value) {
  if ((value ?? '') === '') return '';
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).replace(HIDDEN, '');
}

/** Creates an element. Children are nodes or values; empty ones are omitted. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if ((value ?? '') !== '') element.setAttribute(name, value);
  }
  for (const child of children.flat()) {
    if (child instanceof Node) element.append(child);
    else if (child !== false && text(child) !== '') element.append(text(child));
  }
  return element;
}

/** Creates an element for foreign text, with its own text direction. */
const words = (value, kind = 'text') => (text(value) === '' ? null : make('p', { class: kind, dir: 'auto' }, value));
const span = (kind, value) => make('span', { class: kind, dir: 'auto' }, value);
const titled = (value) => span('title text', value);
const below = (value) => (value === '' ? null : span('muted more', value));

const isFilled = (value) => value instanceof Node || text(value) !== '';

/** Creates a list of names and values; names without a value are omitted. */
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

/** Creates a row that can be opened. */
function folded(isOpen, head, inside) {
  const filled = inside.flat().filter(isFilled);
  if (filled.length === 0) return make('div', { class: 'row', tabindex: -1 }, head);
  const details = make('details', {}, make('summary', {}, head), make('div', { class: 'inside' }, filled));
  details.open = isOpen;
  return details;
}

/** Creates a link to another row of this page, and opens the row on a click. */
function jump(place, label) {
  const anchor = make('a', { href: `#${encodeURIComponent(place)}` }, label);
  anchor.addEventListener('click', (event) => {
    const row = document.getElementById(place);
    event.preventDefault();
    if (row.matches('details')) row.open = true;
    row.scrollIntoView({ block: 'center' });
    (row.querySelector('summary') ?? row).focus();
  });
  return anchor;
}
