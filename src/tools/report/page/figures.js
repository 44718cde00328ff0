// Formats numbers, sizes and times.

const plural = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

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

/** The locale and the time zone of the reader; undefined for those of the browser. */
const reader = { locale: undefined, timeZone: undefined };

const time = (value) => (text(value) === '' ? NaN : Date.parse(text(value)));

const WITH_ZONE = { year: 'numeric', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' };

function moment(value, style = WITH_ZONE) {
  const at = new Date(text(value));
  if (text(value) === '' || Number.isNaN(at.getTime())) return text(value);
  let shown;
  try {
    shown = at.toLocaleString(reader.locale, { ...style, timeZone: reader.timeZone });
  } catch {
    shown = at.toLocaleString(undefined, style);
  }
  return make('time', { datetime: at.toISOString() }, shown);
}
