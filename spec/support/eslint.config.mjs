// Rules for the scripts of the files that exports html and svg write (lua/profio/exports/).

const names = ['window', 'document', 'location', 'URLSearchParams', 'getComputedStyle'];

export default [{
  files: ['**/*.js'],
  languageOptions: { ecmaVersion: 2022, sourceType: 'script',
    globals: Object.fromEntries(names.map(name => [name, 'readonly'])) },
  rules: {
    'no-undef': 'error', 'no-unused-vars': 'error', 'no-var': 'error', 'prefer-const': 'error',
    'eqeqeq': 'error', 'strict': ['error', 'function'], 'no-shadow': 'error',
    'no-use-before-define': ['error', { functions: false, classes: false }],
    'no-eval': 'error', 'no-implied-eval': 'error', 'no-implicit-globals': 'error',
    'no-restricted-properties': ['error',
      ...['innerHTML', 'outerHTML', 'insertAdjacentHTML'].map(property => ({ property })),
      { object: 'document', property: 'write' }],
    'no-restricted-globals': ['error', 'fetch', 'XMLHttpRequest', 'WebSocket', 'alert', 'prompt'],
    'default-case-last': 'error', 'consistent-return': 'error', 'no-loop-func': 'error',
    'array-callback-return': 'error', 'no-constant-binary-expression': 'error',
    'complexity': ['error', 20], 'max-depth': ['error', 4], 'max-params': ['error', 6],
    'max-lines': ['error', 500], 'max-len': ['error', 100],
    'max-lines-per-function': ['error', { max: 40 }],
  },
}];
