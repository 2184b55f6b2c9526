import { Button, Group, Select, Tabs, Text, TextInput } from '@mantine/core'
import { ClipboardPaste, Play, RefreshCw, Save, Zap } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { call } from '../../../api.ts'
import { Heading } from '../../../parts/heading.tsx'
import { RefusalNotice } from '../../../parts/refusal.tsx'
import { Ago } from '../../../parts/time.tsx'
import { paths } from '../../../paths.ts'
import { useAct } from '../../../queries.ts'
import type { Project } from '../../../wire.ts'
import { buildKeys, newestRows, useObject, useObjectsOf } from '../asked.ts'
import shared from '../build.module.css'
import { DriftWarning } from '../drift.tsx'
import type { Datasource, Executed, Job, Tested } from '../wire.ts'
import { SourceStatus } from './connections.tsx'
import { CurlDialog } from './curl-dialog.tsx'
import { DeleteConnection } from './delete-connection.tsx'
import { bodyOf, configurationOf, type Draft } from './draft.ts'
import { History } from './history.tsx'
import { JobProgress } from './job-progress.tsx'
import { RequestPane } from './request-pane.tsx'
import { ResponsePane } from './response-pane.tsx'
import classes from './connection.module.css'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

type Props = { project: Project; source: Datasource | null; initial: Draft; onMade: (source: Datasource) => void }

/** The request on the left, what it brings on the right. */
export function ConnectionScreen({ project, source, initial, onMade }: Props) {
  const [draft, setDraft] = useState(initial)
  const [pasting, setPasting] = useState(false)
  const [jobId, setJobId] = useState<string | null>(null)
  const [, navigate] = useLocation()
  const acts = useConnectionActs({ project, source, onMade })
  const editor = project.role !== 'viewer'
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }))
  const ready = draft.url.trim() !== ''
  const named = ready && (draft.name.trim() !== '' || source !== null)

  const execute = (): void =>
    acts.execute.mutate(draft, {
      onSuccess: ({ made, executed }) => {
        const [job] = executed.jobs
        if (job !== undefined) setJobId(job.id)
        else navigate(paths.table(project.id, made.table_name))
      },
    })
  return (
    <>
      <Heading
        title={source?.name ?? 'New connection'}
        within={project.name}
        action={
          source !== null && editor ? (
            <Group gap="xs">
              <Button
                variant="default"
                leftSection={<RefreshCw size={16} aria-hidden />}
                loading={acts.refresh.isPending}
                disabled={source.status === 'new'}
                onClick={() => acts.refresh.mutate(undefined, { onSuccess: (job) => setJobId(job.id) })}
              >
                Refresh
              </Button>
              <DeleteConnection project={project} source={source} />
            </Group>
          ) : undefined
        }
      >
        {source === null ? (
          'Where the data comes from, and which part of the answer becomes the table.'
        ) : (
          <Standing project={project} source={source} />
        )}
      </Heading>
      {source !== null && <NewestDrift project={project} source={source} />}
      <form
        className={classes.bar}
        onSubmit={(event) => {
          event.preventDefault()
          if (ready) acts.test.mutate(draft)
        }}
      >
        <Select
          aria-label="Method"
          className={classes.method ?? ''}
          data={methods}
          value={draft.method}
          disabled={!editor}
          onChange={(method) => change({ method: method ?? 'GET' })}
        />
        <TextInput
          aria-label="Address"
          className={classes.url ?? ''}
          classNames={{ input: classes.code ?? '' }}
          placeholder="https://api.example.com/v1/orders"
          spellCheck={false}
          autoComplete="off"
          inputMode="url"
          value={draft.url}
          disabled={!editor}
          onChange={(event) => change({ url: event.currentTarget.value })}
        />
        {editor && (
          <>
            <Button
              type="submit"
              variant="default"
              disabled={!ready}
              loading={acts.test.isPending}
              leftSection={<Zap size={16} aria-hidden />}
            >
              Test
            </Button>
            <Button
              disabled={!named}
              loading={acts.execute.isPending}
              onClick={execute}
              leftSection={<Play size={16} aria-hidden />}
            >
              Execute
            </Button>
          </>
        )}
      </form>
      {jobId !== null && (
        <JobProgress
          key={jobId}
          projectId={project.id}
          jobId={jobId}
          onClose={() => setJobId(null)}
          onDone={() => {
            setJobId(null)
            if (source !== null) navigate(paths.table(project.id, source.table_name))
          }}
        />
      )}
      <RefusalNotice error={acts.execute.error ?? acts.save.error ?? acts.refresh.error} />
      <div className={shared.split}>
        <div className={shared.panel}>
          <div className={classes.fields}>
            <Group gap="sm" align="flex-end">
              <TextInput
                label="Name"
                description={source === null ? 'Its table is called after it.' : undefined}
                flex="1 1 10rem"
                autoComplete="off"
                value={draft.name}
                disabled={!editor}
                onChange={(event) => change({ name: event.currentTarget.value })}
              />
              {editor && (
                <>
                  <Button
                    variant="default"
                    leftSection={<ClipboardPaste size={16} aria-hidden />}
                    onClick={() => setPasting(true)}
                  >
                    Paste curl
                  </Button>
                  <Button
                    variant="default"
                    disabled={!named}
                    loading={acts.save.isPending}
                    onClick={() => acts.save.mutate(draft)}
                    leftSection={<Save size={16} aria-hidden />}
                  >
                    Save
                  </Button>
                </>
              )}
            </Group>
          </div>
          <RequestPane draft={draft} onChange={change} disabled={!editor} />
        </div>
        <div className={shared.panel}>
          <Tabs defaultValue={editor ? 'response' : 'history'} keepMounted={false}>
            <Tabs.List>
              {editor && <Tabs.Tab value="response">Response</Tabs.Tab>}
              {source !== null && <Tabs.Tab value="history">History</Tabs.Tab>}
            </Tabs.List>
            <Tabs.Panel value="response" className={classes.response ?? ''}>
              <ResponsePane
                tested={acts.test.data}
                error={acts.test.error}
                busy={acts.test.isPending}
                extractor={draft.extractor}
                onExtract={(extractor) => change({ extractor })}
              />
            </Tabs.Panel>
            {source !== null && (
              <Tabs.Panel value="history" className={classes.response ?? ''}>
                <History project={project} source={source} />
              </Tabs.Panel>
            )}
          </Tabs>
        </div>
      </div>
      <CurlDialog opened={pasting} onClose={() => setPasting(false)} onTake={change} />
    </>
  )
}

function Standing({ project, source }: { project: Project; source: Datasource }) {
  return (
    <Group component="span" gap="sm" display="inline-flex">
      <SourceStatus source={source} />
      {source.status !== 'new' && <Link href={paths.table(project.id, source.table_name)}>{source.table_name}</Link>}
      {source.refreshed_at !== null && (
        <span>
          fetched <Ago at={source.refreshed_at} />
        </span>
      )}
      {source.next_refresh_at !== null && (
        <span>
          again <Ago at={source.next_refresh_at} />
        </span>
      )}
      {source.last_error !== null && (
        <Text component="span" c="var(--sluice-danger)">
          {source.last_error.message}
        </Text>
      )}
    </Group>
  )
}

function NewestDrift({ project, source }: { project: Project; source: Datasource }) {
  const objects = useObjectsOf(project.id, source.id)
  const newest = newestRows(objects.data ?? []).get(source.id)
  const described = useObject(project.id, newest === undefined || newest.drift === null ? undefined : newest.id)
  return <DriftWarning projectId={project.id} drift={described.data?.drift ?? null} />
}

const executeTimeoutMs = 10 * 60_000

function useConnectionActs({ project, source, onMade }: Pick<Props, 'project' | 'source' | 'onMade'>) {
  const [, navigate] = useLocation()
  const path = `/v1/projects/${project.id}/datasources`
  const refresh = [buildKeys.sources(project.id), buildKeys.objects(project.id)]

  const store = async (draft: Draft): Promise<Datasource> => {
    const body = {
      ...(draft.name.trim() !== '' && { name: draft.name }),
      config: configurationOf(draft),
      pagination: draft.pagination,
      schedule: draft.schedule === '' ? null : draft.schedule,
      schedule_time_zone: draft.timeZone,
      keep_versions: draft.keepVersions,
    }
    if (source !== null) return call<Datasource>('PATCH', `${path}/${source.id}`, { body })
    const made = await call<Datasource>('POST', path, { body: { ...body, kind: 'http_api' } })
    onMade(made)
    navigate(paths.connection(project.id, made.id), { replace: true })
    return made
  }
  const test = useAct(
    (draft: Draft) => {
      // The tree shows the whole response, and the table below it what the extractor takes.
      const { responsePathExtractor: _taken, ...configuration } = configurationOf(draft)
      const stored = source === null ? {} : { project_id: project.id, datasource_id: source.id }
      const body = { ...configuration, ...stored, ...(bodyOf(draft) !== undefined && { body: bodyOf(draft) }) }
      return call<Tested>('POST', '/v1/http/test-connection', { body, timeoutMs: 60_000 })
    },
    { refresh: [] },
  )
  const save = useAct(store, { refresh, say: ({ name }) => `${name} is saved.` })
  const execute = useAct(
    async (draft: Draft) => {
      const made = await store(draft)
      const config = configurationOf(draft)
      const executed = await call<Executed>('POST', '/v1/http/execute-request', {
        timeoutMs: executeTimeoutMs,
        body: {
          project_id: project.id,
          datasource_id: made.id,
          connect_spec: { name: made.name, id: 'http_api', config },
          ...config,
          ...(draft.pagination !== null && { pagination: draft.pagination }),
        },
      })
      return { made, executed }
    },
    { refresh },
  )
  const again = useAct(() => call<Job>('POST', `${path}/${source?.id ?? ''}/refresh`), { refresh: [] })
  return { test, save, execute, refresh: again }
}
