export { openQuestionIndexes, type QuestionIndexes, type QuestionIndexesOptions } from './indexes/open-indexes.ts'
export { adviseQuery } from './verbs/advise.ts'
export { ask } from './verbs/ask.ts'
export { findAsked, groupQuestions, listQuestions } from './verbs/asked-questions.ts'
export { type EvaluationCase, questionsFor } from './indexes/evaluation-cases.ts'
export {
  createCase,
  deleteCase,
  findRun,
  listCases,
  listRuns,
  runEvaluations,
  updateCase,
} from './verbs/evaluations.ts'
export { confirmReport, deleteReport, listReports, reportAnswer } from './verbs/counter-examples.ts'
export { openQuestionLog, type QuestionLog } from './verbs/log.ts'
export { openLanguageModel, type LanguageModel } from './verbs/model.ts'
export {
  changeQuestionSettings,
  findQuestionSettings,
  type QuestionSettings,
  forgetOldQuestions,
  holdWordKeepers,
} from './verbs/question-settings.ts'
export { completenessOf, type Decision } from './verbs/decide.ts'
export { candidatesOf, refusalOf, roundShare, schemaOf, wireRouting } from './verbs/refusal.ts'
export { renameExpected } from './verbs/renamed-query.ts'
export { openReadingAmong } from './verbs/read-among.ts'
export { resolveQuestions } from './verbs/resolve.ts'
export { tryQuestion, type Tried } from './verbs/try.ts'
export { readQueries, warmQuestions } from './verbs/warm.ts'
