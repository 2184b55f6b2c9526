/**
 * Limits that are part of the contract: the schemas state them, so they are the same in every installation. Limits that
 * an installation can set are in `server/config.ts`; `GET /v1/limits` reports both. The unit is the last word.
 */
export const fixedLimits = {
  nameChars: fixed(120, 'Longest name of a project, datasource, key, token or alert.'),
  tags: fixed(20, 'Most tags of a query or a table.'),
  passwordChars: fixed(200, 'Longest password.'),
  pageItems: fixed(200, 'Most entries of a page of a list.'),
  urlChars: fixed(8_192, 'Longest address of an external API.'),
  extractorChars: fixed(1_024, 'Longest `responsePathExtractor`.'),
  curlChars: fixed(100_000, 'Longest cURL command that is imported.'),
  importChars: fixed(10_000_000, 'Longest OpenAPI document, Postman collection or HAR file that is imported as text.'),
  variableChars: fixed(8_192, 'Longest value of a variable or secret of a project.'),
  childRequests: fixed(1_000_000, 'Most rows of another table that one load makes a request for.'),
  loadPages: fixed(100_000, 'Most pages of one load.'),
  keptVersions: fixed(1_000, 'Most versions of its data that a datasource can keep.'),
  sqlChars: fixed(100_000, 'Longest SQL of a query.'),
  queryDescriptionChars: fixed(4_000, 'Longest description of a query.'),
  queryExamples: fixed(500, 'Most example questions of a query.'),
  exampleChars: fixed(1_000, 'Longest example question.'),
  querySlots: fixed(50, 'Most slots of a query.'),
  slotTitleChars: fixed(100, 'Longest title of a slot.'),
  slotDescriptionChars: fixed(1_000, 'Longest description of a slot.'),
  slotChoices: fixed(1_000, 'Most values of an `enum`.'),
  slotSynonyms: fixed(50, 'Most other words for a value.'),
  slotPatternChars: fixed(500, 'Longest `pattern` of a slot.'),
  slotDefaultChars: fixed(8_192, 'Longest text that a slot has by default.'),
  slotDefaultItems: fixed(1_000, 'Most items that a list slot has by default.'),
  slotItems: fixed(10_000, 'Most items of a list in a call: more than this is a table, not a parameter.'),
  slotMatchedChars: fixed(10_000, 'Longest text that is matched with a `pattern`.'),
  keyPermissions: fixed(100, 'Most permissions of an API key.'),
  permissionEnvironments: fixed(20, 'Most environments that one permission names.'),
  permissionQueries: fixed(500, 'Most queries that one permission names.'),
  fixedParameters: fixed(50, 'Most parameters that an API key fixes.'),
  browserTokenChars: fixed(4_096, 'Longest browser token: it carries the names and values that it is limited to.'),
  evaluationCases: fixed(2_000, 'Most evaluation cases of a project: each deployment asks all of them.'),
  counterExamples: fixed(
    500,
    'Most reports of wrong answers of a project: each question is compared with all of them.',
  ),
  questionChars: fixed(2_000, 'Longest question.'),
  resolvedQuestions: fixed(100, 'Most logged questions that are turned into examples at once.'),
  definedObjects: fixed(10_000, 'Most connections, queries, variables or alerts of a definition, each.'),
  releaseQueries: fixed(10_000, 'Most queries of a release.'),
  releaseMessageChars: fixed(2_000, 'Longest message of a release.'),
  replayCalls: fixed(10_000, 'Most calls of one replay, and most that a project keeps of a query for it.'),
  redactedSlots: fixed(200, 'Most slots that a project keeps out of its record of calls.'),
  engineMoveParameters: fixed(20, 'Most sets of values that an author gives for one query of a move between engines.'),
  keyTags: fixed(10, 'Most tags of an API key.'),
  alertChannels: fixed(10, 'Most channels of an alert.'),
  alertRecipients: fixed(20, 'Most recipients of a channel by e-mail.'),
} as const satisfies Record<string, FixedLimit>

type FixedLimit = { value: number; sentence: string }

function fixed<Value extends number>(value: Value, sentence: string): { value: Value; sentence: string } {
  return { value, sentence }
}
