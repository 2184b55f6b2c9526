/** What is packed as it is, because modules find it beside them or users read it. */
export const taken = [
  'server/store/migrations',
  'models/question-encoder',
  'models/question-reader',
  'web/dist',
  'docs/openapi.json',
  'catalog',
  'scripts/launch.mjs',
  'scripts/memory.mjs',
]
