export type { JobContext, JobRecord } from './job.ts'
export { openJobs, type Jobs } from './open.ts'
export { nextRun } from './schedules.ts'
export { cancelJob, countFailedJobs, findJob, forgetOldJobs, listJobs, retryJob, watchJobs } from './verbs.ts'
