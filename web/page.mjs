// page.mjs - the page for people: which view is shown, and the key
import {Problem, getStats, hasKey, setKey} from './api.mjs';
import {announce, byId} from './dom.mjs';
import {clearCheck, startCheck} from './view_check.mjs';
import {showClusters} from './view_clusters.mjs';
import {showCompare, startCompare} from './view_compare.mjs';
import {showCrawl, startCrawl} from './view_crawl.mjs';
import {showDocument, startDocument} from './view_document.mjs';
import {showDocuments, startDocuments} from './view_documents.mjs';
import {renewFigures, showFigures, startFigures} from './view_figures.mjs';

/** @type {Record<string, (search: URLSearchParams) => void>} */
const VIEWS = {
  check: () => {},
  documents: showDocuments,
  clusters: showClusters,
  document: showDocument,
  compare: showCompare,
  crawl: () => void showCrawl(),
  figures: () => {},
};

/** @param {boolean} isFirst whether the page was just opened: the focus stays where it is */
function route(isFirst) {
  const [path = '', search = ''] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const name = Object.hasOwn(VIEWS, path) ? path : 'check';
  for (const view of document.querySelectorAll('.view')) if (view instanceof HTMLElement) view.hidden = view.id !== `view-${name}`;
  for (const tab of document.querySelectorAll('.tabs a')) {
    // One document is looked up in the list of all.
    if (tab.getAttribute('href') === `#/${name === 'document' ? 'documents' : name}`) tab.setAttribute('aria-current', 'page');
    else tab.removeAttribute('aria-current');
  }
  const title = byId(`h-${name}`);
  document.title = name === 'check' ? 'neardup' : `${title.textContent} – neardup`;
  if (!isFirst) {
    window.scrollTo(0, 0);
    title.focus({preventScroll: true});
  }
  showFigures(name === 'figures');
  if (!isFirst || name !== 'check') VIEWS[name]?.(new URLSearchParams(search));
}

/** Go there; anew, where the page is there already. @param {string} address */
function go(address) {
  if (location.hash === address) route(false);
  else location.hash = address;
}

const dialog = byId('key-dialog', HTMLDialogElement);
const value = byId('key-value', HTMLInputElement);

function keyState() {
  byId('open-key').textContent = hasKey() ? 'Your key' : 'Key';
  byId('open-key').classList.toggle('has-key', hasKey());
  byId('key-forget').hidden = !hasKey();
}

/** @param {string} problem */
function openKey(problem) {
  byId('key-problem').textContent = problem;
  byId('key-problem').hidden = !problem;
  value.value = '';
  if (!dialog.open) dialog.showModal();
  value.focus();
}

/** A key is taken into use once the service knows it. */
async function useKey() {
  const text = value.value.trim();
  if (!text) {
    openKey('Enter a key first.');
    return;
  }
  setKey(text, byId('key-keep', HTMLInputElement).checked);
  try {
    await getStats();
    dialog.close();
    announce('The key is in use.');
  } catch (error) {
    setKey('', false);
    openKey(error instanceof Problem && error.status === 401 ? 'The service does not know this key.' : `The key could not be tried: ${error instanceof Error ? error.message : error}`);
  }
  keyChanged();
}

/** Other documents may be seen now. */
function keyChanged() {
  keyState();
  clearCheck();
  renewFigures();
  route(true);
}

function startKey() {
  byId('open-key').addEventListener('click', () => openKey(''));
  byId('key-cancel').addEventListener('click', () => dialog.close());
  byId('key-forget').addEventListener('click', () => {
    setKey('', false);
    dialog.close();
    announce('The key is forgotten.');
    keyChanged();
  });
  byId('key-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void useKey();
  });
  document.addEventListener('key-needed', () => {
    if (!dialog.open) openKey(hasKey() ? 'The service no longer knows this key.' : 'This service needs a key.');
  });
  keyState();
}

startKey();
startCheck();
startDocument(go);
startDocuments(go);
startCompare(go);
startCrawl();
startFigures();
window.addEventListener('hashchange', () => route(false));
document.querySelector('.skip')?.addEventListener('click', (event) => {
  // The address says which view is shown: the link must not change it.
  event.preventDefault();
  byId('main').focus();
});
route(true);
