import { useState, type ReactNode } from 'react'
import { call } from '../../../client/api.ts'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { useAct } from '../../../client/queries.ts'
import type { Project } from '../../../client/wire.ts'
import { JobProgress } from '../connections/job-progress.tsx'
import type { Datasource, Job } from '../shared/wire.ts'

/** Fetches the data of a table again and shows how that goes, on whichever page it was asked for. */
export function useRefreshing(
  project: Project,
  source: Pick<Datasource, 'id'>,
): { start: () => void; isPending: boolean; progress: ReactNode } {
  const [jobId, setJobId] = useState<string | null>(null)
  const refresh = useAct(() => call<Job>('POST', `/v1/projects/${project.id}/datasources/${source.id}/refresh`), {
    refresh: [['projects', project.id, 'jobs']],
  })
  return {
    start: () => refresh.mutate(undefined, { onSuccess: ({ id }) => setJobId(id) }),
    isPending: refresh.isPending,
    progress: (
      <>
        {jobId !== null && (
          <JobProgress
            key={jobId}
            projectId={project.id}
            jobId={jobId}
            onClose={() => setJobId(null)}
            onDone={() => setJobId(null)}
          />
        )}
        <RefusalNotice error={refresh.error} />
      </>
    ),
  }
}
