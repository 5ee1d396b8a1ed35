// view_crawl.mjs - what to visit next, and why
import {getCrawl} from './api.mjs';
import {announce, byId, count, el, every, time, visible} from './dom.mjs';
import {Place, documentLink, emptyBox} from './show.mjs';

/** @import {CrawlList} from './api.mjs' */

const answer = new Place(byId('crawl-answer'));

export async function showCrawl() {
  const limit = Number(byId('crawl-limit', HTMLSelectElement).value);
  /** @type {CrawlList|undefined} */
  let list;
  await answer.fill('Reading what is due…', (signal) => getCrawl(limit, signal), (given) => {
    list = given;
    return view(given);
  });
  if (list) announce(`${count(list.documents.length, 'document')} to visit.`);
}

/** @param {CrawlList} list */
function view(list) {
  if (!list.documents.length) return emptyBox('Nothing to visit', 'Once documents are stored, they are listed here in the order in which to visit them again.');
  const due = list.documents.filter((d) => d.is_due).length;
  return [el('p', null, visible(list.documents.length, 'document'), due ? `, of which ${due} ${due === 1 ? 'is' : 'are'} due now` : ', none of which is due yet'),
    el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'What to visit next'}, el('table', {class: 'list stack'},
      el('thead', null, el('tr', null, ['Document', 'When', 'Why', 'Priority', 'Visited'].map((name) => el('th', {scope: 'col'}, name)))),
      el('tbody', null, list.documents.map((d) => el('tr', {class: d.is_due ? 'due' : null},
        el('th', {scope: 'row'}, documentLink(d)),
        el('td', {'data-name': 'When'}, d.is_due && el('span', {class: 'badge due-badge'}, 'due'), ' ', time(d.due)),
        el('td', {'data-name': 'Why'}, d.why), el('td', {class: 'n', 'data-name': 'Priority'}, d.priority), el('td', {'data-name': 'Visited'}, every(d.interval)))))))];
}

export function startCrawl() {
  byId('crawl-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void showCrawl();
  });
  byId('crawl-limit').addEventListener('change', () => void showCrawl());
}
