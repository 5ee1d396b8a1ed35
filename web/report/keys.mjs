// keys.mjs - keys of pages that the command writes: j and k go to the next and the previous case

const cases = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('.case')]);
let at = -1;

for (const one of cases) {
  one.tabIndex = -1;
  one.addEventListener('focusin', () => { at = cases.indexOf(one); });
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
  const step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
  if (!step || !cases.length) return;
  event.preventDefault();
  at = Math.min(Math.max(at + step, 0), cases.length - 1);
  cases[at]?.focus();
  cases[at]?.scrollIntoView({block: 'start'});
});
