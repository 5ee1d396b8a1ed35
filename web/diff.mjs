// diff.mjs - what two sequences have in common, in bounded time
//
// Short stretches are compared exactly (Myers 1986).  Long ones are first cut at runs that occur once
// in each (the patience diff).  Where a script would be too long, the way that has come furthest so far
// is taken, and the search begins anew where it ends.

/** [a begin, a end, b begin, b end): equal runs, in order. @typedef {[number, number, number, number]} Run */

/** Elements beyond which a stretch is cut first. */
const LONG = 4000;
/** Edits after which the furthest way is taken. */
const MOST_EDITS = 500;

/**
 * Items that only one sequence has equal none of the other: they are left out first, which is most of the
 * work where texts are unlike.
 * @param {Int32Array} a
 * @param {Int32Array} b
 * @returns {Run[]} runs that both have, which grow in both
 */
export function equalRuns(a, b) {
  const inA = inOther(a, b), inB = inOther(b, a);
  /** @type {Run[]} */
  const out = [];
  for (const [a0, a1, b0] of runsOf(inA.map((i) => at(a, i)), inB.map((i) => at(b, i)))) {
    for (let t = 0; t < a1 - a0; t++) {
      const x = at(inA, a0 + t), y = at(inB, b0 + t);
      put(out, x, x + 1, y, y + 1);
    }
  }
  return out;
}

/**
 * The places of what the other sequence has, too.
 * @param {Int32Array} s
 * @param {Int32Array} other
 */
function inOther(s, other) {
  const known = new Set(other);
  const places = new Int32Array(s.length);
  let n = 0;
  for (let i = 0; i < s.length; i++) if (known.has(at(s, i))) places[n++] = i;
  return places.subarray(0, n);
}

/**
 * @param {Int32Array} a
 * @param {Int32Array} b
 * @returns {Run[]}
 */
function runsOf(a, b) {
  /** @type {Run[]} */
  const out = [];
  // Stretches that are yet to be compared; the last one is the next.
  /** @type {[number, number, number, number, boolean][]} */
  const todo = [[0, a.length, 0, b.length, false]];
  for (let next = todo.pop(); next; next = todo.pop()) {
    const [a0, a1, b0, b1, isEqual] = next;
    if (isEqual) put(out, a0, a1, b0, b1);
    else todo.push(...within(a, b, a0, a1, b0, b1).reverse());
  }
  return out;
}

/**
 * @param {Run[]} out
 * @param {number} a0 @param {number} a1 @param {number} b0 @param {number} b1
 */
function put(out, a0, a1, b0, b1) {
  const last = out.at(-1);
  if (a1 === a0) return;
  if (last && last[1] === a0 && last[3] === b0) {
    last[1] = a1;
    last[3] = b1;
  } else {
    out.push([a0, a1, b0, b1]);
  }
}

/**
 * One step: equal ends are cut off, and what is between them is compared, or cut.
 * @param {Int32Array} a @param {Int32Array} b
 * @param {number} a0 @param {number} a1 @param {number} b0 @param {number} b1
 * @returns {[number, number, number, number, boolean][]}
 */
function within(a, b, a0, a1, b0, b1) {
  let head = 0, tail = 0;
  while (a0 + head < a1 && b0 + head < b1 && a[a0 + head] === b[b0 + head]) head++;
  while (a1 - tail > a0 + head && b1 - tail > b0 + head && a[a1 - tail - 1] === b[b1 - tail - 1]) tail++;
  const [i, j, k, l] = [a0 + head, a1 - tail, b0 + head, b1 - tail];
  return [[a0, i, b0, k, true], ...(j > i && l > k ? inner(a, b, i, j, k, l) : []), [j, a1, l, b1, true]];
}

/**
 * A stretch whose ends differ.
 * @param {Int32Array} a @param {Int32Array} b
 * @param {number} i @param {number} j @param {number} k @param {number} l
 * @returns {[number, number, number, number, boolean][]}
 */
function inner(a, b, i, j, k, l) {
  const anchors = j - i + l - k > LONG ? anchored(a, b, i, j, k, l, 5) : [];
  if (anchors.length) return between(anchors, i, j, k, l);
  const {runs, x, y} = shortest(a, b, i, j, k, l);
  return [...runs.map((run) => /** @type {[number, number, number, number, boolean]} */ ([...run, true])), [i + x, j, k + y, l, false]];
}

/**
 * The runs, with what is between them, which is yet to be compared.
 * @param {Run[]} runs
 * @param {number} i @param {number} j @param {number} k @param {number} l
 */
function between(runs, i, j, k, l) {
  /** @type {[number, number, number, number, boolean][]} */
  const out = [];
  let [at, bt] = [i, k];
  for (const [a0, a1, b0, b1] of runs) {
    if (a0 > at && b0 > bt) out.push([at, a0, bt, b0, false]);
    out.push([a0, a1, b0, b1, true]);
    [at, bt] = [a1, b1];
  }
  if (j > at && l > bt) out.push([at, j, bt, l, false]);
  return out;
}

/**
 * Myers' greedy algorithm, forwards, with the furthest points of each step kept for the way back:
 * the runs up to the point (x, y), which is the end unless that takes more than MOST_EDITS.
 * @param {Int32Array} a @param {Int32Array} b
 * @param {number} i @param {number} j @param {number} k @param {number} l
 * @returns {{runs: Run[], x: number, y: number}}
 */
function shortest(a, b, i, j, k, l) {
  const n = j - i, m = l - k;
  const most = Math.min(n + m, MOST_EDITS);
  const furthest = new Int32Array(2 * most + 3);
  const origin = most + 1;
  /** @type {Int32Array[]} */
  const trace = [];
  for (let d = 0; d <= most; d++) {
    for (let diagonal = -d; diagonal <= d; diagonal += 2) {
      const down = diagonal === -d || (diagonal !== d && at(furthest, origin + diagonal - 1) < at(furthest, origin + diagonal + 1));
      let x = down ? at(furthest, origin + diagonal + 1) : at(furthest, origin + diagonal - 1) + 1;
      while (x < n && x - diagonal < m && a[i + x] === b[k + x - diagonal]) x++;
      furthest[origin + diagonal] = x;
      if (x >= n && x - diagonal >= m) return {runs: wayBack(trace, n, m, d, i, k), x: n, y: m};
    }
    trace.push(furthest.slice(origin - d, origin + d + 1));
  }
  let [bestX, bestY] = [0, 0];
  for (let diagonal = -most; diagonal <= most; diagonal += 2) {
    const x = at(furthest, origin + diagonal), y = x - diagonal;
    if (x <= n && y <= m && x + y > bestX + bestY) [bestX, bestY] = [x, y];
  }
  return {runs: wayBack(trace, bestX, bestY, most, i, k), x: bestX, y: bestY};
}

/** @param {Int32Array} array @param {number} index */
const at = (array, index) => /** @type {number} */ (array[index]);

/**
 * @param {Int32Array[]} trace of step d: the furthest x of diagonals -d … d
 * @param {number} n @param {number} m @param {number} d
 * @param {number} i @param {number} k
 * @returns {Run[]}
 */
function wayBack(trace, n, m, d, i, k) {
  /** @type {Run[]} */
  const runs = [];
  let x = n, y = m;
  for (let step = d; step > 0; step--) {
    const before = /** @type {Int32Array} */ (trace[step - 1]);
    /** @param {number} g */
    const reached = (g) => Math.abs(g) <= step - 1 ? at(before, g + step - 1) : -1;
    const diagonal = x - y;
    const down = diagonal === -step || (diagonal !== step && reached(diagonal - 1) < reached(diagonal + 1));
    const from = down ? reached(diagonal + 1) : reached(diagonal - 1);
    const start = down ? from : from + 1;
    if (x > start) runs.push([i + start, i + x, k + start - diagonal, k + y]);
    x = from;
    y = from - (down ? diagonal + 1 : diagonal - 1);
  }
  if (x > 0) runs.push([i, i + x, k, k + y]);
  return runs.reverse();
}

/**
 * The longest chain of runs of `length` that occur once in each stretch.
 * @param {Int32Array} a @param {Int32Array} b
 * @param {number} i @param {number} j @param {number} k @param {number} l
 * @param {number} length
 * @returns {Run[]}
 */
function anchored(a, b, i, j, k, l, length) {
  const inA = once(a, i, j, length), inB = once(b, k, l, length);
  /** @type {[number, number][]} */
  const pairs = [];
  for (const [hash, x] of inA) {
    const y = inB.get(hash);
    if (x >= 0 && y !== undefined && y >= 0 && equal(a, b, x, y, length)) pairs.push([x, y]);
  }
  pairs.sort((left, right) => left[0] - right[0]);
  /** @type {Run[]} */
  const runs = [];
  for (const [x, y] of longestChain(pairs)) {
    const last = runs.at(-1);
    if (last && x - y === last[0] - last[2] && x <= last[1]) {
      last[1] = x + length;
      last[3] = y + length;
    } else if (!last || (x >= last[1] && y >= last[3])) {
      runs.push([x, x + length, y, y + length]);
    }
  }
  return runs;
}

/**
 * Return the place where each run begins, by its hash; -1: it occurs more than once.
 * @param {Int32Array} s @param {number} from @param {number} to @param {number} length
 */
function once(s, from, to, length) {
  /** @type {Map<number, number>} */
  const found = new Map();
  for (let x = from; x + length <= to; x++) {
    let hash = 0;
    for (let y = 0; y < length; y++) hash = Math.imul(hash ^ at(s, x + y), 0x9E3779B1) + y | 0;
    found.set(hash, found.has(hash) ? -1 : x);
  }
  return found;
}

/**
 * @param {Int32Array} a @param {Int32Array} b
 * @param {number} x @param {number} y @param {number} length
 */
function equal(a, b, x, y, length) {
  for (let t = 0; t < length; t++) if (a[x + t] !== b[y + t]) return false;
  return true;
}

/**
 * The longest subsequence that grows in its second numbers, of pairs that grow in their first.
 * @param {[number, number][]} pairs
 */
function longestChain(pairs) {
  /** @type {number[]} */
  const ends = [];
  const before = new Int32Array(pairs.length);
  for (let p = 0; p < pairs.length; p++) {
    const y = pair(pairs, p)[1];
    let low = 0, high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pair(pairs, /** @type {number} */ (ends[middle]))[1] < y) low = middle + 1;
      else high = middle;
    }
    before[p] = low ? /** @type {number} */ (ends[low - 1]) : -1;
    ends[low] = p;
  }
  const chain = [];
  for (let p = ends.at(-1) ?? -1; p >= 0; p = at(before, p)) chain.push(pair(pairs, p));
  return chain.reverse();
}

/** @param {[number, number][]} pairs @param {number} p */
const pair = (pairs, p) => /** @type {[number, number]} */ (pairs[p]);

/**
 * Leave out short equal runs between longer changes: a lone "the" helps no reader.
 * @param {Run[]} runs
 * @param {number} n length of a
 * @param {number} m length of b
 */
export function readable(runs, n, m) {
  return runs.filter(([a0, a1, b0, b1], r) => {
    const before = runs[r - 1] ?? [0, 0, 0, 0], after = runs[r + 1] ?? [n, n, m, m];
    const changedBefore = Math.max(a0 - before[1], b0 - before[3]), changedAfter = Math.max(after[0] - a1, after[2] - b1);
    return a1 - a0 > 2 || Math.min(changedBefore, changedAfter) < 3 || (r === 0 && a0 === 0) || (r === runs.length - 1 && a1 === n);
  });
}
