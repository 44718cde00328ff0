// Screenshots: small on the page, enlarged in a dialog.

const SHOWABLE = /^data:image\/(jpeg|png);base64,/;

/** Returns the pictures of a run, in the order of the report. */
function picturesOf(report, run, matches = () => true) {
  return list(object(report.pictures).items).map(object).filter((one) => one.run_id === run && SHOWABLE.test(one.src) && matches(one));
}

/** Returns the alternative text of a picture: what it shows, by player and run. */
function described({ step, end, player, run_id: run }) {
  const isStep = number(step) !== null;
  return `Screenshot: ${joined([isStep && `step ${step}`, end && (isStep ? 'the end' : 'end'), `player ${text(player)}`, `run ${text(run)}`], ', ')}`;
}

const image = (picture) => make('img', { src: picture.src, alt: described(picture), width: number(picture.width), height: number(picture.height) });

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

function thumbnails(pictures) {
  return items('ul', 'shots', pictures.map((picture) => {
    const button = make('button', { type: 'button', class: 'shot', 'aria-haspopup': 'dialog' }, image(picture));
    button.addEventListener('click', () => enlarge(picture, button));
    return button;
  }));
}

/** Describes the pictures that the report lacks. */
function missingPictures({ pictures }) {
  const { left_out: left, left_out_runs: runs, unread } = object(pictures);
  const counts = joined([left && plural(left, 'picture'), runs && `the pictures of ${plural(runs, 'run')}`], ' and ');
  return [counts && words(`Left out, because the size of a page is limited: ${counts}.`, 'note'), ...missing({ unread })];
}
