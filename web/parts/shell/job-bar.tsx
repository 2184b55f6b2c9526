import { Button, Group, Progress, Text, UnstyledButton } from '@mantine/core'
import { useSessionStorage } from '@mantine/hooks'
import { ChevronDown } from 'lucide-react'
import { cancelJob, sayJob, sayProgress, useRunningJobs } from '../../client/jobs.ts'
import { useAct } from '../../client/queries.ts'
import { useDatasources } from '../../client/things.ts'
import type { Job, Project } from '../../client/wire.ts'
import classes from './job-bar.module.css'
import { RefusalNotice } from '../text/refusal.tsx'

/** The running jobs of the project, under the header; away when there are none. */
export function JobBar({ project }: { project: Project }) {
  const jobs = useRunningJobs(project.id)
  // Each tab has a frame of its own: what was opened in one is open in the next.
  const [open, setOpen] = useSessionStorage({ key: 'sluice-jobs-open', defaultValue: false })
  const [first] = jobs
  if (first === undefined) return null
  const share = jobs.reduce((sum, { progress }) => sum + progress, 0) / jobs.length
  return (
    <section className={classes.bar} aria-label="Running jobs">
      <UnstyledButton className={classes.toggle ?? ''} aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronDown size={14} aria-hidden />
        <span className={classes.words}>
          {jobs.length === 1 ? `1 job: ${sayJob(first).toLowerCase()}` : `${jobs.length} jobs are running`}
        </span>
      </UnstyledButton>
      {open && (
        <ul className={classes.jobs}>
          {jobs.map((job) => (
            <JobLine key={job.id} project={project} job={job} />
          ))}
        </ul>
      )}
      <Progress
        value={Math.max(share * 100, 4)}
        size={3}
        radius={0}
        aria-label="Progress of the running jobs"
        animated
      />
    </section>
  )
}

function JobLine({ project, job }: { project: Project; job: Job }) {
  const sources = useDatasources(project.id)
  const of = sources.data?.find(({ id }) => id === job.source_id)?.name
  const cancel = useAct(() => cancelJob(job.id), { refresh: [['projects', project.id, 'jobs']] })
  const name = `${sayJob(job)}${of === undefined ? '' : ` of ${of}`}`
  return (
    <li className={classes.job}>
      <Group justify="space-between" gap="sm" wrap="nowrap">
        <Text size="xs">
          {name}: {sayProgress(job)}
          {job.attempt > 1 && `, attempt ${job.attempt} of ${job.max_attempts}`}
        </Text>
        {project.role !== 'viewer' && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            loading={cancel.isPending}
            onClick={() => cancel.mutate()}
            aria-label={`Cancel: ${name}`}
          >
            Cancel
          </Button>
        )}
      </Group>
      <Progress value={Math.max(job.progress * 100, 4)} size="sm" aria-label={`Progress: ${name}`} animated />
      <RefusalNotice error={cancel.error} />
    </li>
  )
}
