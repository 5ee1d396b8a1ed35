// chart.mjs - plots: how far versions are from one another, when documents came, how large clusters are
import {date, number} from './dom.mjs';

/** @import {Version} from './api.mjs' */

const SVG = 'http://www.w3.org/2000/svg';
const HEIGHT = 150, TOP = 18, BOTTOM = 26, LEFT = 30;

/**
 * @param {string} name
 * @param {Record<string, string|number>} attributes
 * @param {string} [text]
 */
function svg(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/**
 * Bars, one for each version after the first; the table beside it has the same figures.
 * @param {Version[]} versions
 */
export function versionChart(versions) {
  const shown = versions.filter((v) => v.distance !== null).slice(-60);
  const greatest = Math.max(8, ...shown.map((v) => v.distance ?? 0));
  const top = greatest <= 8 ? 8 : greatest <= 16 ? 16 : greatest <= 32 ? 32 : 64;
  const step = Math.min(56, Math.max(10, 640 / Math.max(1, shown.length)));
  const width = LEFT + step * shown.length + 8;
  const chart = svg('svg', {class: 'chart', viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: 'img',
    'aria-label': `Distance of each version to the one before, in bits: ${shown.map((v) => `${v.version}: ${v.distance}`).join(', ')}`});
  /** @param {number} bits */
  const y = (bits) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - bits / top);
  for (const bits of [0, top / 2, top]) {
    chart.append(svg('line', {class: bits ? 'grid' : 'axis', x1: LEFT, x2: width, y1: y(bits), y2: y(bits)}),
      svg('text', {class: 'tick', x: LEFT - 6, y: y(bits) + 4, 'text-anchor': 'end'}, number(bits)));
  }
  shown.forEach((version, i) => chart.append(...versionBar(version, LEFT + i * step, step, y)));
  return chart;
}

/**
 * @param {Version} version
 * @param {number} x
 * @param {number} step
 * @param {(bits: number) => number} y
 */
function versionBar(version, x, step, y) {
  const bits = version.distance ?? 0;
  const barWidth = Math.min(26, step * 0.62);
  const middle = x + step / 2;
  const height = Math.max(2, y(0) - y(bits));
  const column = svg('rect', {class: bits ? 'bar' : 'bar none', x: middle - barWidth / 2, y: y(0) - height, width: barWidth, height, rx: 2});
  column.append(svg('title', {}, `Version ${version.version}, ${date(version.time)}: ${bits} of 64 bits`));
  const parts = [column];
  if (step >= 22) {
    parts.push(svg('text', {class: 'value', x: middle, y: y(0) - height - 5, 'text-anchor': 'middle'}, number(bits)),
      svg('text', {class: 'tick', x: middle, y: HEIGHT - 8, 'text-anchor': 'middle'}, `v${version.version}`));
  }
  return parts;
}

/**
 * A line of the last values.
 * @param {number[]} values
 * @param {string} name
 */
export function sparkline(values, name) {
  const low = Math.min(...values), range = Math.max(...values) - low || 1;
  const points = values.map((v, i) => `${(i / Math.max(1, values.length - 1) * 116 + 2).toFixed(1)},${(22 - (v - low) / range * 18).toFixed(1)}`);
  const line = svg('svg', {class: 'spark', viewBox: '0 0 120 26', width: 120, height: 26, role: 'img', 'aria-label': name});
  line.append(svg('polyline', {points: points.join(' ')}));
  return line;
}

/** As wide as there is room for. */
const roomy = () => Math.max(260, Math.min(1060, document.documentElement.clientWidth - 76));

/**
 * Columns, whose figures stand in their titles.
 * @param {{value: number, title: string, label?: string}[]} columns
 * @param {string} name
 * @param {boolean} isRange whether the labels are those of the two ends
 */
function columnChart(columns, name, isRange) {
  const width = roomy(), step = (width - LEFT - 8) / columns.length;
  const greatest = Math.max(1, ...columns.map((c) => c.value));
  const top = greatest <= 4 ? greatest : Math.ceil(greatest / 2) * 2;
  const chart = svg('svg', {class: 'chart', viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: 'img', 'aria-label': name});
  /** @param {number} value */
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  for (const value of top > 1 ? [0, top % 2 ? 1 : top / 2, top] : [0, top]) {
    chart.append(svg('line', {class: value ? 'grid' : 'axis', x1: LEFT, x2: width, y1: y(value), y2: y(value)}),
      svg('text', {class: 'tick', x: LEFT - 6, y: y(value) + 4, 'text-anchor': 'end'}, number(value)));
  }
  const thick = Math.min(64, step * 0.76);
  columns.forEach(({value, title, label}, i) => {
    const x = LEFT + i * step;
    if (value) {
      const column = svg('rect', {class: 'bar', x: x + (step - thick) / 2, y: Math.min(y(value), y(0) - 2), width: thick, height: Math.max(2, y(0) - y(value)), rx: 2});
      column.append(svg('title', {}, title));
      chart.append(column);
    }
    if (label !== undefined) {
      const anchor = !isRange ? 'middle' : i ? 'end' : 'start';
      chart.append(svg('text', {class: 'tick', x: anchor === 'start' ? x : anchor === 'end' ? x + step : x + step / 2, y: HEIGHT - 8, 'text-anchor': anchor}, label));
    }
  });
  return chart;
}

/**
 * How many documents came when, from the first to the last, or in the last one's hour.
 * @param {string[]} times
 */
export function cameChart(times) {
  const seconds = times.map((t) => Date.parse(t)).filter((t) => !Number.isNaN(t));
  const last = Math.max(...seconds), first = Math.min(last - 3600_000, ...seconds);
  const n = roomy() > 500 ? 48 : 24, width = (last - first) / n;
  const counts = new Array(n).fill(0);
  for (const t of seconds) counts[Math.min(n - 1, Math.floor((t - first) / width))]++;
  /** @param {number} t */
  const said = (t) => date(new Date(t).toISOString());
  const columns = counts.map((value, i) => ({value, title: `${number(value)} from ${said(first + i * width)} to ${said(first + (i + 1) * width)}`,
    ...(i === 0 && {label: said(first)}), ...(i === n - 1 && {label: said(last)})}));
  return columnChart(columns, `${number(seconds.length)} documents from ${said(first)} to ${said(last)}; at most ${number(Math.max(...counts))} in one of ${n} equal parts of this time`, true);
}

/**
 * How many clusters have how many documents, in classes that double.
 * @param {number[]} sizes
 */
export function sizesChart(sizes) {
  /** @type {{from: number, to: number, value: number}[]} */
  const classes = [];
  for (let from = 2; from === 2 || from <= Math.max(...sizes);) {
    const to = from < 4 ? from : 2 * from - 1; // 2; 3; 4 to 7; 8 to 15
    classes.push({from, to, value: sizes.filter((s) => s >= from && s <= to).length});
    from = to + 1;
  }
  const columns = classes.map(({from, to, value}) => {
    const label = from === to ? number(from) : `${number(from)}–${number(to)}`;
    return {value, label, title: `${number(value)} clusters of ${label} documents`};
  });
  return columnChart(columns, columns.map((c) => c.title).join('; '), false);
}
