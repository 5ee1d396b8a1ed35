// view_clusters.mjs - stories that many documents tell: the largest, the newest, those that grow
import {getClusters} from './api.mjs';
import {announce, byId, count, el, number, time, visible} from './dom.mjs';
import {sizesChart} from './chart.mjs';
import {Place, Stories, bar, documentAddress, documentLink, emptyBox, storyLinks} from './show.mjs';

/** @import {Cluster, ClusterList, ClusterOrder} from './api.mjs' */

const answer = new Place(byId('clusters-answer'));

const ASKED = 500;

/** @param {URLSearchParams} search */
export function showClusters(search) {
  const given = search.get('order');
  const order = given === 'newest' || given === 'growth' ? given : 'size';
  for (const link of byId('clusters-order').querySelectorAll('a')) {
    if (link.dataset.order === order) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
  void run(order);
}

/** @param {ClusterOrder} order */
async function run(order) {
  /** @type {ClusterList|undefined} */
  let list;
  await answer.fill('Looking for stories that are told more than once…', (signal) => getClusters({order, limit: ASKED}, signal), (given) => {
    list = given;
    return view(given, order);
  }, () => void run(order));
  if (list) announce(`${count(list.total, 'cluster')}.`);
}

/** @param {ClusterList} list @param {ClusterOrder} order */
function view(list, order) {
  if (!list.clusters.length) return emptyBox('No clusters yet', 'Once two documents tell the same story, it stands here.');
  const greatest = Math.max(...list.clusters.map((c) => c.size));
  const stories = new Stories(list.clusters.map((c) => row(c, greatest)), list.next, async (cursor) => {
    const more = await getClusters({order, cursor, limit: ASKED});
    return {rows: more.clusters.map((c) => row(c, greatest)), next: more.next};
  });
  return [el('p', null, `${count(list.total, 'cluster')} among `, visible(list.documents, 'document'),
    list.cut ? ': the newest; older ones were not looked at, so that sizes may be greater' : ''),
  el('figure', {class: 'figure', tabindex: '0'}, sizesChart(list.clusters.map((c) => c.size)),
    el('figcaption', {class: 'soft'}, `How many clusters have how many documents${list.next ? `, of the first ${number(list.clusters.length)}` : ''}.`)),
  stories.element];
}

/** @param {Cluster} c @param {number} greatest */
function row(c, greatest) {
  const grew = c.last_hour ? `${number(c.last_hour)} in the last hour` : c.last_day ? `${number(c.last_day)} in the last day` : '';
  return el('li', null, el('p', {class: 'story-title'}, documentLink(c.leader)),
    el('p', {class: 'soft'}, c.leader.title ? [el('span', {class: 'id'}, c.leader.id), ' · '] : null,
      el('a', {href: documentAddress(c.leader, 'cluster')}, count(c.size, 'document')), ', the newest ', time(c.newest), grew ? [' · ', el('span', {class: 'badge grows'}, grew)] : null),
    bar(Math.min(1, c.size / greatest), `${count(c.size, 'document')}, beside the largest cluster`),
    storyLinks(c.leader));
}
