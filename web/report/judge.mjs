// judge.mjs - a sample to be judged: one pair at a time, a key for each judgement, the file of them
//
// Judgements are kept in the browser by the hash of all rows, so that the page can be closed; where it
// may keep nothing, the page says so.

const LABELS = ['same', 'different', 'unsure'];
const cases = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('.case')]);
const bar = /** @type {HTMLElement} */ (document.getElementById('judge'));
const place = /** @type {HTMLElement} */ (document.getElementById('place'));
const buttons = /** @type {HTMLButtonElement[]} */ ([...bar.querySelectorAll('button')]);
const key = `neardup-judge-${bar.dataset['key']}`;

/** The label of each case; "": none yet. */
const labels = recall();
let keeps = true;
let at = Math.max(0, labels.indexOf(''));

function recall() {
  /** @type {unknown} */
  let kept = null;
  try {
    kept = JSON.parse(localStorage.getItem(key) ?? 'null');
  } catch { /* what cannot be read was not kept */ }
  return cases.map((_, i) => Array.isArray(kept) && LABELS.includes(kept[i]) ? String(kept[i]) : '');
}

function keep() {
  try {
    localStorage.setItem(key, JSON.stringify(labels));
  } catch {
    keeps = false;
  }
}

function show() {
  const done = labels.filter((label) => label).length;
  cases.forEach((one, i) => { one.hidden = i !== at; });
  for (const button of buttons) if (button.dataset['label']) button.setAttribute('aria-pressed', String(button.dataset['label'] === labels[at]));
  place.textContent = `Pair ${at + 1} of ${cases.length}. ${done === cases.length ? 'All are judged: download the file.' : `${done} judged.`}${keeps ? '' : ' This browser keeps nothing: download before you close the page.'}`;
  bar.classList.toggle('done', done === cases.length);
}

/** @param {number} to */
function go(to) {
  at = Math.min(Math.max(to, 0), cases.length - 1);
  show();
  scrollTo({top: 0});
}

/** @param {string} label */
function judge(label) {
  labels[at] = label;
  keep();
  const after = labels.indexOf('', at + 1), next = after < 0 ? labels.indexOf('') : after;
  go(next < 0 ? at : next);
}

/** The file of judgements (docs/format/judgements.md). */
function file() {
  const rows = cases.map((one, i) => `${one.dataset['before']}\t${labels[i]}\t${one.dataset['behind']}\n`);
  return `a\tb\tlabel\tlisted\tstratum\tof\tdrawn\n${rows.join('')}`;
}

function save() {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([file()], {type: 'text/tab-separated-values'}));
  link.download = 'judged.tsv';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

bar.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest('button') : null;
  if (!button) return;
  if (button.dataset['label']) judge(button.dataset['label']);
  else if (button.dataset['step']) go(at + Number(button.dataset['step']));
  else save();
});

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const label = LABELS[Number(event.key) - 1];
  if (label) judge(label);
  else if (event.key === 'j' || event.key === 'ArrowLeft') go(at - 1);
  else if (event.key === 'k' || event.key === 'ArrowRight') go(at + 1);
  else if (event.key === 's') save();
  else return;
  event.preventDefault();
});

if (cases.length) {
  bar.hidden = false;
  show();
}
