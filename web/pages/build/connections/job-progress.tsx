import { Alert, Button, Group, Progress, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import { cancelJob, isFinal, refreshAfter, sayJob, sayProgress, sayTimeLeft, useLiveJob } from '../../../client/jobs.ts'
import { useAct } from '../../../client/queries.ts'
import type { Job } from '../../../client/wire.ts'
import classes from './fields/connection.module.css'

type Props = {
  projectId: string
  jobId: string
  onDone: (job: Job) => void
  onClose: () => void
}

/** A job as it goes, with a way to stop it; says so when it is done. */
export function JobProgress({ projectId, jobId, onDone, onClose }: Props) {
  const job = useLiveJob(projectId, jobId).data
  const client = useQueryClient()
  const cancel = useAct(() => cancelJob(jobId), { refresh: [['jobs', jobId]] })
  const finish = useEffectEvent((finished: Job) => {
    refreshAfter(client, projectId)
    if (finished.status === 'succeeded') onDone(finished)
  })
  const done = job !== undefined && isFinal(job)
  useEffect(() => {
    if (job !== undefined && done) finish(job)
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once, at its end
  }, [done])
  if (job !== undefined && done && job.status !== 'succeeded') {
    return (
      <Alert variant="default" role="alert" withCloseButton closeButtonLabel="Close" onClose={onClose} mb="md">
        {job.status === 'cancelled' ? 'It was cancelled.' : (job.error?.message ?? 'It failed.')}
      </Alert>
    )
  }
  const percent = Math.round((job?.progress ?? 0) * 100)
  const parts = job === undefined ? [] : [sayProgress(job), sayTimeLeft(job)]
  const reached = parts.filter(Boolean).join(', ')
  const line = { words: `${sayJob(job)}…`, reached, percent }
  return <ProgressLine {...line} {...(!done && { onCancel: () => cancel.mutate() })} />
}

type Line = { words: string; reached?: string; percent: number; onCancel?: () => void }

/** The running jobs, how far they are, and how to stop them. Only the first is read aloud by itself: the rest changes often. */
export function ProgressLine({ words, reached = '', percent, onCancel }: Line) {
  return (
    <div className={classes.progress}>
      <Group justify="space-between" mb={6} wrap="nowrap">
        <Text>
          <span aria-live="polite">{words}</span> {reached}
        </Text>
        {onCancel !== undefined && (
          <Button variant="default" size="compact-sm" onClick={onCancel}>
            Cancel
          </Button>
        )}
      </Group>
      <Progress value={Math.max(percent, 4)} size="sm" aria-label="Progress" animated={onCancel !== undefined} />
    </div>
  )
}
