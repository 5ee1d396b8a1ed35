// eslint.config.mjs - rules for the page and its tests (tools/test-page.sh)
import {createRequire} from 'node:module';

const js = createRequire(`${process.env.PAGE_MODULES}/`)('@eslint/js');
const named = (names) => Object.fromEntries(names.split(' ').map((name) => [name, 'readonly']));
const everywhere = 'AbortController AbortSignal URL URLSearchParams clearTimeout console fetch queueMicrotask setTimeout';
// Ways by which text would become markup or code.
const markup = ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'setHTMLUnsafe', 'srcdoc', 'createContextualFragment'];

export default [
  js.configs.recommended,
  {
    rules: {
      'eqeqeq': 'error', 'no-var': 'error', 'prefer-const': 'error', 'no-eval': 'error', 'no-implied-eval': 'error', 'no-new-func': 'error',
      'no-shadow': 'error', 'no-restricted-properties': ['error', ...markup.map((property) => ({property})), {object: 'document', property: 'write'}, {object: 'document', property: 'cookie'}],
      'max-lines-per-function': ['error', {max: 60, skipComments: true}],
    },
  },
  {
    files: ['web/*.mjs', 'web/report/*.mjs'],
    languageOptions: {globals: named(`${everywhere} Blob CustomEvent DOMException DragEvent Element File HTMLDetailsElement HTMLDialogElement HTMLElement HTMLFormElement HTMLInputElement HTMLLIElement HTMLSelectElement HTMLTextAreaElement Intl MessageEvent Node Response Worker document history localStorage location scrollTo self sessionStorage window`)},
  },
  {files: ['tests/service/*.mjs'], languageOptions: {globals: named(`${everywhere} Buffer document getComputedStyle innerWidth location process sessionStorage window`)}, rules: {'no-restricted-properties': 'off', 'max-lines-per-function': 'off'}},
];
