export { defaultSettings, type QueryContent } from './content.ts'
export { openAnswers, type Answer, type Answers, type IncompleteSource } from './answers.ts'
export type { JsonSchema } from './column-schema.ts'
export { contractOf, type QueryContract } from './contract.ts'
export { openQueryCallers, type QueryCallers } from './callers.ts'
export type { AnsweredCall, CallWatch } from './call-watch.ts'
export { answerRun, call, limitRun, type CallAnswer, type CallParts } from './call.ts'
export { openQueryGate } from './data-change.ts'
export type { DeployGate, EvaluatedPlace, GatedChange, Regression, RoutingReport } from './deploy-gate.ts'
export { readPastReads } from './past-reads.ts'
export { openDeployments, type Deployments, type EnvironmentPlace } from './deployments.ts'
export { draftAsVersion, findVersionPairs, restoredVersion, storedVersion, type VersionPair } from './version-pairs.ts'
export { answersKey, liveVersion, versionFor, type LiveVersion, type ReleaseTrial } from './deployment-index.ts'
export type { Rehearsal } from './rehearsal.ts'
export type { NewTrial } from './start-trial.ts'
export { continueRelease, endTrial, listTrials, noteTrial, stepTrial, type TrialRecord } from './trial-acts.ts'
export { changeQuery, createQuery, deleteQuery, findQuery, hasQuery, listQueries, type Query } from './drafts.ts'
export { examine, inspectQuery } from './inspection.ts'
export { compareContracts } from './compatibility.ts'
export { wireRegressions, type ReleaseReport } from './releases/report.ts'
export { deployQuery, promoteQuery, rollbackQuery, undeployQuery, type DeployReport } from './releases/single.ts'
export { createReleaseTurns, type ReleaseTurns } from './releases/turns.ts'
export { releaseMove, type MovedText } from './releases/move.ts'
export type { ReleaseParts } from './releases/release.ts'
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
export { explainQuery, previewQuery, runScratch, streamDraft } from './preview.ts'
export { readQueryReads, type QueryReads } from './reads.ts'
export { renameQuery, tagQuery, type QueryNameKeepers } from './rename.ts'
export { callableQueries, contractsFor, describedBy, describeProject } from './project-document.ts'
export { checkSlots } from './slots.ts'
export { addressWords, slotParameter, slotPrefix } from './text-values.ts'
export { tellRefusal } from './record.ts'
export { keepLookups } from './lookups.ts'
export { runQuery, type Run, type RunAnswer, type StreamAnswer } from './run.ts'
export { diffVersions, findVersion, listDeployments, listHistory, listVersions, type VersionEntry } from './versions.ts'
