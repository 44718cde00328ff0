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

/** Opens the row with this id, if there is one, and moves the focus to it. */
function reach(place) {
  const row = document.getElementById(place);
  if (!row) return;
  if (row.matches('details')) row.open = true;
  row.scrollIntoView({ block: 'center' });
  (row.querySelector('summary') ?? row).focus();
}

/** Creates a link to another row of this page. The address of the page then leads to the row, unless a host shows it. */
function jump(place, label) {
  const href = `#${encodeURIComponent(place)}`;
  const anchor = make('a', { href }, label);
  anchor.addEventListener('click', (event) => {
    event.preventDefault();
    if (window.parent === window) history.replaceState(null, '', href);
    reach(place);
  });
  return anchor;
}

/** Links a label to an address of the web, unless a host shows the page. An address with a user or a query is not shown: it may be a permission. */
function linked(label, address) {
  try {
    const { href, protocol, username, password, search } = new URL(text(address));
    if (window.parent === window && ['http:', 'https:'].includes(protocol) && !username && !password && !search) {
      return make('a', { href, target: '_blank', rel: 'noopener noreferrer' }, label);
    }
  } catch {
    // It is no address.
  }
  return label;
}
