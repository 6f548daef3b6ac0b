import tseslint from "typescript-eslint";

/** Held by `npm run lint`. Rules that fight the house style are relaxed with the reason beside them. */
const house = {
  "max-lines": ["error", { max: 400, skipBlankLines: false, skipComments: false }],
  "max-params": ["error", { max: 3 }], // then one named object
  "no-restricted-syntax": [
    "error",
    { selector: "ExportDefaultDeclaration", message: "An export bears a name: no default exports." },
    { selector: "TSEnumDeclaration", message: "Take a union of literals instead of an enum." },
  ],
  eqeqeq: "error",
};

const relaxed = {
  "@typescript-eslint/consistent-type-definitions": ["error", "type"],
  "@typescript-eslint/max-params": "off", // the plain rule counts
  // a number in a message reads as well as its text
  "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
  // `() => void work()` and a callback that hands on a void answer are our style
  "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true }],
  "@typescript-eslint/no-meaningless-void-operator": "off",
  // loops that end by a return
  "@typescript-eslint/no-unnecessary-condition": ["error", { allowConstantLoopConditions: "always" }],
  // a promise given to a callback that expects void, as in an event listener, must be marked with void
  "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { attributes: false } }],
  "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true }],
  "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
  "@typescript-eslint/unified-signatures": "off",
  // rows and messages are typed where they enter
  "@typescript-eslint/no-unnecessary-type-parameters": "off",
};

export default tseslint.config(
  { ignores: ["**/node_modules/", "**/dist/", ".data/", ".turbo/", "**/generated/"] },
  {
    files: ["**/*.ts"],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { project: "./tsconfig.check.json", tsconfigRootDir: import.meta.dirname } },
    rules: { ...house, ...relaxed },
  },
  {
    files: ["vitest.config.ts", "prisma.config.ts"], // their tools want a default export
    rules: { "no-restricted-syntax": "off" },
  },
  {
    files: ["**/*.test.ts", "tests/**/*.ts"],
    rules: {
      "@typescript-eslint/require-await": "off", // probes and doubles answer promises
      "@typescript-eslint/no-non-null-assertion": "off", // an absent value fails the test there and then
      "@typescript-eslint/no-empty-function": "off",
    },
  },
  {
    files: ["**/*.mjs", "**/*.js"],
    rules: { "max-lines": house["max-lines"], eqeqeq: "error", "no-var": "off" },
  },
);
