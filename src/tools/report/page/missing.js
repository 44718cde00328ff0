// Describes what a report lacks.

const cutsOf = (run) => list(object(run.truncated).cuts).map(object);
/** Returns whether a list was cut. Some cuts are recorded only as a number. */
const wasCut = (run, path) => cutsOf(run).some((cut) => path.test(text(cut.path))) || Number(object(run.truncated).more_cuts) > 0;

const STEPS = /^\/players(\/\d+\/steps)?$/;
const lacksSteps = (run) => wasCut(run, STEPS);

/** Returns `player 1 steps` for `/players/0/steps`. */
function spelt(path) {
  const numbered = text(path).replaceAll(/s\/(\d+)/g, (_, index) => ` ${Number(index) + 1}`);
  return numbered.replaceAll(/[._/]/g, ' ').trim();
}

const lost = (count, what) => `${text(count)} more of ${spelt(what)}`;

/** Describes what did not fit into a reply. */
function shortened({ truncated }) {
  if (!truncated) return [];
  const { hint, cuts, more_cuts: others, bare } = object(truncated);
  const parts = list(cuts).map(object).map((cut) => lost(cut.omitted ?? `${text(cut.omitted_characters)} characters`, cut.path));
  if (others) parts.push(`${text(others)} more cuts`);
  if (bare) parts.push(`${plural(bare, 'step')} by the result alone`);
  return [['This report was shortened', parts.join(', '), text(hint)].filter(Boolean).join(': ')];
}

/** Describes what is missing from a report, and why. */
function missing(report) {
  const unread = list(report.unread).map((one) => `${text(object(one).what) || 'Something'} could not be read: ${text(object(one).why) || text(one)}`);
  const { how, ...counts } = object(report.left_out);
  const left = Object.entries(counts).map(([what, count]) => `${lost(count, what)}. ${text(how)}`);
  return [...unread, ...left, ...shortened(report)].map((line) => words(line, 'note'));
}

const longer = (kept, all) => Array.from({ length: Math.max(kept.length, all.length) }, (_, index) => object(kept[index] ?? all[index]));

/** Returns a shortened record with the reduced steps that were read after it. */
function completed(run, bare) {
  const players = longer(list(run.players), list(bare.players)).map((player, index) =>
    ({ ...player, steps: longer(list(player.steps), list(object(bare.players[index]).steps)) }));
  const cuts = [...cutsOf(bare), ...cutsOf(run).filter((cut) => !STEPS.test(text(cut.path)))];
  const truncated = { hint: run.truncated.hint, cuts, more_cuts: object(bare.truncated).more_cuts, bare: stepsOf({ players }).length - stepsOf(run).length };
  return { ...run, players, truncated };
}
