// Records whose texts contain markup, control characters, or words wider than a page.

export const MARKUP = '<img src=x onerror="window.hurt=1"><script>window.hurt=2</script>';
export const CLOSING = '</script><!-- <script> --><svg onload="window.hurt=3">{data}{script}';
// An answer whose ids have white space is refused, so that these have none.
export const MARKUP_ID = '<img/src=x/onerror="window.hurt=5">';
export const CLOSING_ID = '</script><svg/onload="window.hurt=6">';
export const SCRIPT_ADDRESS = 'javascript:window.hurt=4';
/** Text with bidirectional controls, which would reverse its direction. */
export const REVERSED = 'report\u202Efdp.exe\u2066 \u200Bend';

/** A word without a line break opportunity, wider than any page. */
export const LONG = 'MANIFOLD_'.repeat(80);

const LATE = '2026-03-02T04:16:38.500+00:00';

export const run = (address = 'https://elsewhere.example/') => ({
  multiplayer_run_id: 'hostile',
  project_id: MARKUP_ID,
  job_id: CLOSING_ID,
  state: 'COMPLETED',
  result: MARKUP,
  bug_info: { bug_label: CLOSING, bug_count: 1 },
  test: { id: 't', name: `${CLOSING} ${MARKUP}`, type: MARKUP },
  build: { id: 'b', name: `${MARKUP} عربي ${REVERSED}` },
  created_at: MARKUP,
  started_at: '2026-03-02T04:15:15+00:00',
  completed_at: LATE,
  duration_ms: 83500.5,
  initiator: { type: MARKUP, value: { name: CLOSING } },
  tags: [MARKUP, CLOSING],
  players: [{
    id: 'hostile-1', state: 'COMPLETED', result: 'FAILED', player_number: 1, test_name: MARKUP, composite_test_id: MARKUP,
    step_count: 1, completed_step_count: 0, step_result_summary: { [MARKUP]: 1 },
    platform: { kind: MARKUP, config: { device: { name: CLOSING, os_version: MARKUP } } },
    artifacts: [
      { filename: `a ${MARKUP}`, url: SCRIPT_ADDRESS, size: 1, uploaded_at: LATE },
      { filename: `b ${REVERSED}`, url: address, size: 1, uploaded_at: LATE },
      { filename: 'c', url: 'data:text/html,<script>alert(1)</script>', size: -1, uploaded_at: LATE },
    ],
    steps: [{
      step_number: 1, start_time: LATE, end_time: '2026-03-02T04:15:15+00:00', duration_ms: null, run_state: 'COMPLETED',
      run_result: 'FAILED', report: `${CLOSING}\n${MARKUP}`,
      items: [{ id: '1a', expected: MARKUP, status: MARKUP, comment: CLOSING }],
      test: { test_step_id: 's', goal: `${MARKUP} ${CLOSING}`, finish_condition: MARKUP, test_type: 'verification' },
    }],
  }],
  templating_enabled: false,
  template_data: null,
});

export const bugs = () => ({
  data: [{
    id: 'occ', bug_id: 'bug', title: MARKUP, description: CLOSING, category: MARKUP, severity: MARKUP, confidence: CLOSING,
    reproduction_steps: MARKUP, player_number: 0, test_step: 1, turn: 1, detected_at: LATE,
    details: { [MARKUP]: CLOSING, screenshot_url: SCRIPT_ADDRESS },
  }],
  pagination: { page: 0, page_size: 20, total_count: 1, total_pages: 1 },
});

export const summary = () => ({
  target_type: MARKUP, target_id: CLOSING, state: MARKUP, all_passed: false, finished: 1, total: 2,
  verdicts: { [MARKUP]: 1, SUCCESS: 1 }, build: { id: MARKUP, name: CLOSING },
  failures: [{
    test: { id: 't', name: MARKUP }, verdict: MARKUP, step: { number: 1, goal: CLOSING }, expected: MARKUP, observed: CLOSING,
    count: 2, run_ids: [MARKUP], bugs: [{ id: MARKUP, title: CLOSING, severity: MARKUP }], artifacts: [MARKUP],
  }],
  passed_with_bugs: [{ test: { name: MARKUP }, run_id: CLOSING, bugs: [{ id: CLOSING, title: MARKUP, severity: MARKUP }] }],
  passed_after_retry: [{ test: { name: MARKUP }, run_id: CLOSING, earlier: [MARKUP] }], bugs: { [MARKUP]: 1 },
  comparison: { with: MARKUP, new: [{ test: MARKUP, verdict: MARKUP, was: CLOSING, run_id: MARKUP }], fixed: [], known: [], not_run: [MARKUP] },
  unread: [{ what: MARKUP, why: CLOSING }], left_out: { [MARKUP]: CLOSING, how: MARKUP },
});

/** A run whose status words are too long for a line. */
export const wide = () => {
  const whole = run();
  const [player] = whole.players;
  const [step] = player.steps;
  return { ...whole, result: LONG, tags: [LONG], players: [{
    ...player, result: LONG, artifacts: [{ ...player.artifacts[0], filename: LONG }],
    steps: [{ ...step, run_result: LONG, items: [{ ...step.items[0], status: LONG }] }, step],
  }] };
};

/** Elements and attributes that the page must not contain, because only the data could have added them. */
export const brought = () => ({
  hurt: window.hurt ?? null,
  elements: [...document.querySelectorAll('img, svg, iframe, object, embed, base, form')].map((one) => one.outerHTML),
  scripts: document.scripts.length,
  handlers: [...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames().filter((name) => name.startsWith('on'))),
  links: [...document.links].map((one) => one.getAttribute('href')).filter((one) => !one.startsWith('#')),
});
