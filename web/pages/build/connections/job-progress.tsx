import { Alert, Button, Group, Progress, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import { call } from '../../../api.ts'
import { useAct } from '../../../queries.ts'
import { buildKeys, isFinal, useLiveJob } from '../asked.ts'
import type { Job } from '../wire.ts'

const doing: Record<string, string> = {
  build_dataline_from_connected_resource: 'Looking at the columns',
  refresh_datasource: 'Fetching the data again',
}

type Props = { projectId: string; jobId: string; onDone: (job: Job) => void; onClose: () => void }

/** A job as it goes, with a way to stop it; says so when it is done. */
export function JobProgress({ projectId, jobId, onDone, onClose }: Props) {
  const job = useLiveJob(projectId, jobId).data
  const client = useQueryClient()
  const cancel = useAct(() => call<Job>('POST', `/v1/jobs/${jobId}/cancel`), { refresh: [buildKeys.job(jobId)] })
  const finish = useEffectEvent((finished: Job) => {
    for (const queryKey of [buildKeys.sources(projectId), buildKeys.objects(projectId)]) {
      void client.invalidateQueries({ queryKey })
    }
    void client.invalidateQueries({ queryKey: ['projects', projectId, 'jobs'] })
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
  return (
    <div aria-live="polite" style={{ marginBottom: '1rem' }}>
      <Group justify="space-between" mb={6}>
        <Text>
          {doing[job?.job_type ?? ''] ?? 'Working'}… {job?.status === 'queued' ? 'waiting' : `${percent} %`}
        </Text>
        {!done && (
          <Button variant="subtle" color="gray" size="compact-xs" onClick={() => cancel.mutate()}>
            Cancel
          </Button>
        )}
      </Group>
      <Progress value={Math.max(percent, 4)} size="sm" aria-label="Progress" animated={!done} />
    </div>
  )
}
