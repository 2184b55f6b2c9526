export type { JobContext, JobRecord } from './job.ts'
export { openJobs, type Jobs } from './open-jobs.ts'
export { requeueUnfinished } from './restore.ts'
export { nextRun } from './schedules.ts'
export {
  cancelJob,
  countFailedJobs,
  failedJobTimes,
  findJob,
  forgetOldJobs,
  listJobs,
  retryJob,
  watchJobs,
} from './verbs.ts'
