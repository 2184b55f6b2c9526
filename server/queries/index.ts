export { openAnswers, type Answer, type Answers } from './answers.ts'
export { openQueryCallers, type QueryCallers } from './callers.ts'
export { directRun, tellRefusal } from './call.ts'
export { deployQuery, promoteQuery, rollbackQuery, undeployQuery } from './deploy.ts'
export { wireRouting, type DeployReport } from './deploy-report.ts'
export type { LiveVersion } from './deployment-index.ts'
export { openDeployments, type Deployments } from './deployments.ts'
export {
  changeQuery,
  createQuery,
  deleteQuery,
  findQuery,
  listQueries,
  type Query,
  type QueryContent,
} from './drafts.ts'
export { inspectQuery } from './inspection.ts'
export { explainQuery, previewQuery } from './preview.ts'
export { checkSlots } from './slots.ts'
export { keptAnswer, runQuery, streamQuery, type Run, type RunAnswer, type StreamAnswer } from './run.ts'
export { diffVersions, findVersion, listDeployments, listHistory, listVersions, type VersionEntry } from './versions.ts'
