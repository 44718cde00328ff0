// What a report lacks, in words.

/** What is missing from a report, and why. */
function missing(report) {
  const unread = list(report.unread).map((one) => `${text(object(one).what) || 'Something'} could not be read: ${text(object(one).why) || text(one)}`);
  const { how, ...counts } = object(report.left_out);
  const left = Object.entries(counts).map(([what, count]) => `${text(count)} more of ${text(what).replaceAll(/[._]/g, ' ')}. ${text(how)}`);
  const cut = report.truncated ? [`This report was shortened: ${text(object(report.truncated).message ?? report.truncated)}`] : [];
  return [...unread, ...left, ...cut].map((line) => words(line, 'note'));
}
