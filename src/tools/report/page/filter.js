// Hides rows by verdict and text, and opens all rows for a printer.

/** Marks a row with its verdict, by which it can be found. */
function judged(word, row) {
  row.dataset.verdict = text(word).toUpperCase();
  return row;
}

/** Creates the fields that hide the rows with another verdict or without a text, if there are rows enough. */
function filterPart(verdicts) {
  if (verdicts.length < 4) return null;
  const search = make('input', { type: 'search', 'aria-label': 'Filter by text', placeholder: 'Filter by text' });
  const words = [...new Set(verdicts.map((word) => text(word).toUpperCase()).filter(Boolean))].sort((one, other) => rank(one) - rank(other));
  const choice = make('select', { 'aria-label': 'Filter by verdict' }, ['Every verdict', ...words].map((word) => make('option', {}, word)));
  const found = make('span', { class: 'muted', 'aria-live': 'polite' });
  const apply = () => {
    const said = search.value.trim().toLowerCase();
    const rows = [...document.querySelectorAll('[data-verdict]')];
    for (const row of rows) {
      const fits = choice.selectedIndex === 0 || row.dataset.verdict === choice.value;
      row.closest('li, tr').hidden = !fits || !row.textContent.toLowerCase().includes(said);
    }
    for (const part of document.querySelectorAll('section:has([data-verdict])')) {
      part.hidden = !part.querySelector(':is(li, tr):not([hidden]) [data-verdict]');
    }
    const shown = rows.filter((row) => !row.closest('[hidden]')).length;
    found.textContent = shown < rows.length ? `${shown} of ${plural(rows.length, 'row')}` : '';
  };
  search.addEventListener('input', apply);
  choice.addEventListener('input', apply);
  return make('div', { class: 'filter', role: 'search' }, search, choice, found);
}

let openedForPrinter = [];
window.addEventListener('beforeprint', () => {
  openedForPrinter = [...document.querySelectorAll('details:not([open])')];
  openedForPrinter.forEach((row) => { row.open = true; });
});
window.addEventListener('afterprint', () => openedForPrinter.forEach((row) => { row.open = false; }));
