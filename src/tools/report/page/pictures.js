// Screenshots: small on the page, enlarged in a dialog.

const SHOWABLE = /^data:image\/(jpeg|png);base64,/;

/** Returns the pictures of a run, in the order of the report. */
function picturesOf(report, run, matches = () => true) {
  const all = list(object(report.pictures).items).map(object);
  return all.filter((one) => one.run_id === run && SHOWABLE.test(one.src) && matches(one));
}

/** Returns the alternative text of a picture: what it shows, by player and run. */
function described({ step, end, player, run_id: run }) {
  const shown = [number(step) !== null && `step ${step}`, end && (number(step) === null ? 'end' : 'the end')].filter(Boolean).join(', ');
  return `Screenshot: ${[shown, `player ${text(player)}`, `run ${text(run)}`].filter(Boolean).join(', ')}`;
}

function image(picture, more) {
  return make('img', { src: picture.src, alt: described(picture), width: number(picture.width), height: number(picture.height), ...more });
}

/** Shows a picture in a dialog. Escape, the button and a click outside close it, and the focus returns. */
function enlarge(picture, opener) {
  const close = make('button', { type: 'button', class: 'close' }, 'Close');
  const large = image(picture);
  // The whole picture is visible without scrolling.
  large.style.width = `min(80rem, 96vw - 2rem, 78vh * ${(number(picture.width) ?? 1) / (number(picture.height) || 1)})`;
  const dialog = make('dialog', { 'aria-label': described(picture) }, close, large, make('p', { class: 'muted' }, described(picture)));
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close());
  dialog.addEventListener('close', () => {
    dialog.remove();
    opener.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
}

function thumbnail(picture) {
  const button = make('button', { type: 'button', class: 'shot', 'aria-haspopup': 'dialog' }, image(picture));
  button.addEventListener('click', () => enlarge(picture, button));
  return button;
}

const thumbnails = (pictures) => items('ul', 'shots', pictures.map(thumbnail));

const shows = (player, step) => (one) => same(one.player, text(player)) && one.step === step;
/** The pictures of the end that are not shown at a failed step. */
const showsEnd = (player) => (one) => same(one.player, text(player)) && one.end && number(one.step) === null;

/** Describes the pictures that the report lacks. */
function missingPictures({ pictures }) {
  const { left_out: left, left_out_runs: runs } = object(pictures);
  const counts = [left && plural(left, 'picture'), runs && `the pictures of ${plural(runs, 'run')}`].filter(Boolean).join(' and ');
  const note = counts && words(`Left out, because the size of a page is limited: ${counts}.`, 'note');
  return [note, ...missing({ unread: object(pictures).unread })];
}
