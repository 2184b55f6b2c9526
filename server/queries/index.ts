export { defaultSettings, type QueryContent } from './drafts/content.ts'
export { openAnswers, type Answer, type Answers, type IncompleteSource } from './calls/answers.ts'
export type { JsonSchema } from './slots/column-schema.ts'
export { contractOf, type QueryContract } from './deployed/contract.ts'
export { openQueryCallers, type QueryCallers } from './calls/callers.ts'
export type { AnsweredCall, CallWatch } from './calls/call-watch.ts'
export { answerRun, call, limitRun, type CallAnswer, type CallParts, type RowsAnswer } from './calls/call.ts'
export { openKeptFiles, type FileAnswer, type KeptFiles } from './calls/kept-files.ts'
export { callLinked, linkQuery } from './calls/query-links.ts'
export { openQueryGate } from './deployed/data-change.ts'
export type {
  ChangedQuery,
  DeployGate,
  EvaluatedPlace,
  GatedChange,
  Regression,
  RoutingReport,
} from './deployed/deploy-gate.ts'
export { readPastReads } from './deployed/past-reads.ts'
export { openDeployments, type Deployments } from './deployed/deployments.ts'
export {
  draftAsVersion,
  findVersionPairs,
  restoredVersion,
  storedVersion,
  type VersionPair,
} from './releases/version-pairs.ts'
export {
  answersKey,
  liveVersion,
  versionFor,
  type LiveVersion,
  type ReleaseTrial,
} from './deployed/deployment-index.ts'
export { readQueriesToTest, type QueryToTest, type TestGate } from './releases/test-gate.ts'
export type { Rehearsal } from './releases/rehearsal.ts'
export type { NewTrial } from './releases/start-trial.ts'
export { continueRelease, endTrial, listTrials, noteTrial, stepTrial, type TrialRecord } from './releases/trial-acts.ts'
export { changeQuery, createQuery, deleteQuery, findQuery, hasQuery, listQueries, type Query } from './drafts/drafts.ts'
export { examine, inspectQuery, requireShort } from './drafts/inspection.ts'
export { compareContracts } from './slots/compatibility.ts'
export { type ReleaseReport } from './releases/report.ts'
export { deployQuery, promoteQuery, rollbackQuery, undeployQuery } from './releases/single.ts'
export { releaseMove, type MovedText } from './releases/move.ts'
export { releaseTurns, type ReleaseParts } from './releases/release.ts'
export { asDraft, contentOfText, readTexts, type QueryText } from './releases/texts.ts'
export {
  checkRelease,
  findRelease,
  forgetOldChecks,
  listReleases,
  promoteEnvironment,
  releaseQueries,
  rollbackRelease,
} from './releases/verbs.ts'
export { explainQuery, previewQuery, runScratch, streamDraft } from './calls/preview.ts'
export { readQueryReads, type QueryReads } from './deployed/reads.ts'
export { renameQuery, tagQuery, type QueryNameKeepers } from './drafts/rename.ts'
export { callableQueries, contractsFor, describedBy, describeProject, listedFor } from './deployed/project-document.ts'
export { saidBound, type SlotBound } from './slots/bounds.ts'
export {
  boundsOf,
  boundsOfAll,
  readBounds,
  readNeeded,
  type BoundParts,
  type QueryBounds,
} from './slots/read-bounds.ts'
export { bindCall, checkSlots } from './slots/slots.ts'
export { addressWords, slotParameter, slotPrefix } from './slots/slot-values.ts'
export { tellRefusal } from './calls/record.ts'
export { keepLookups } from './calls/lookups.ts'
export { type Run, type RunAnswer, type RunParts, type StreamAnswer } from './calls/run-types.ts'
export type { UnknownValues } from './calls/unknown-values.ts'
export {
  diffVersions,
  findVersion,
  listDeployments,
  listHistory,
  listVersions,
  type VersionEntry,
} from './drafts/versions.ts'
export { warmProjects } from './calls/warm.ts'
