// Shows the last executions of a test plan: a row for each test, a column for each execution.

const day = (value) => moment(value, { dateStyle: 'medium', timeStyle: 'short' });

function column(value) {
  const one = object(value);
  return make('th', { scope: 'col' }, day(one.started_at), below(built(one.build)), make('code', {}, text(one.test_plan_execution_id)));
}

function trendRow(value, columns) {
  const row = object(value);
  const flaky = text(row.flaky) && make('span', { class: 'verdict warn' }, make('span', { 'aria-hidden': 'true' }, '~'), make('span', {}, 'Flaky'));
  const cells = Array.from({ length: columns }, (_, index) => {
    const result = object(list(row.results)[index]);
    const retries = list(result.earlier).length;
    return make('td', {}, verdict(result.verdict) ?? span('muted', 'Not included'), retries > 0 && below(`after ${retries === 1 ? '1 retry' : `${retries} retries`}`));
  });
  const newest = list(row.results).map(object).filter((result) => text(result.verdict)).pop();
  return judged(object(newest).verdict, make('tr', {}, make('th', { scope: 'row' }, titled(named(row.test)), flaky && ' ', flaky, text(row.flaky) && below(row.flaky)), cells));
}

function trendPage(trend, report) {
  const executions = list(trend.executions);
  const tests = list(trend.tests).map(object);
  const name = text(trend.name) || text(trend.test_plan_id) || 'Test plan';
  const head = make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'Test'), executions.map(column)));
  const body = make('tbody', {}, tests.map((row) => trendRow(row, executions.length)));
  const label = `Results of the last ${plural(executions.length, 'execution')}, the newest on the right`;
  const table = make('table', {}, make('caption', { class: 'muted' }, label), head, body);
  table.style.setProperty('--columns', executions.length);
  return [
    heading(['Test plan', text(trend.test_plan_id)].filter(Boolean).join(' · '), name),
    facts([
      ['Executions', executions.length],
      ['Tests', tests.length],
      ['Flaky tests', tests.filter((row) => text(row.flaky)).length],
    ]),
    ...missing(report), ...missing(trend),
    filterPart(tests.flatMap((row) => list(row.results).map((result) => object(result).verdict))),
    // The keyboard scrolls only what can have the focus.
    make('div', { class: 'scroll', role: 'region', 'aria-label': label, tabindex: 0 }, table),
  ];
}
