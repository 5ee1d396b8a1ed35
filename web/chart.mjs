// chart.mjs - how far each version of a document is from the one before
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
