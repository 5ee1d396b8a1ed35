// compare_worker.mjs - makes the rows of two texts, beside the page, which goes on answering
import {sameInEdits, sameInTexts, sideBySide} from './rows.mjs';

/** @param {MessageEvent<{a: string, b: string, edits: import('./api.mjs').Edit[]|null}>} message */
self.onmessage = ({data: {a, b, edits}}) => {
  self.postMessage(sideBySide(a, b, edits ? sameInEdits(edits, a, b) : sameInTexts(a, b)));
};
