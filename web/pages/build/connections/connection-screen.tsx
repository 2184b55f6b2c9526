import { Alert, Button, Group, Tabs, Text, TextInput } from '@mantine/core'
import { ClipboardPaste, Save } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { Heading } from '../../../parts/text/heading.tsx'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { paths } from '../../../browser/paths.ts'
import { useApis } from '../../../client/queries.ts'
import { servedRows } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { useObject, useObjectsOf } from '../shared/asked.ts'
import shared from '../shared/build.module.css'
import { DriftWarning } from '../shared/drift.tsx'
import { HeldNotice } from '../shared/held.tsx'
import type { Datasource } from '../shared/wire.ts'
import { SourceStatus } from '../shared/source-status.tsx'
import { ApiField } from './fields/api-field.tsx'
import { ConnectFields } from './fields/connect-fields.tsx'
import { CurlDialog } from './curl-dialog.tsx'
import { DeleteConnection } from './delete-connection.tsx'
import type { Draft } from './fields/draft.ts'
import { EnvironmentField } from './fields/environment-field.tsx'
import { ForEachFields } from './fields/for-each-fields.tsx'
import { History } from './history.tsx'
import { JobProgress, ProgressLine } from './job-progress.tsx'
import { useConnectionActs } from './use-connection-acts.ts'
import { useConnectionDraft } from './use-connection-draft.ts'
import { RequestBar } from './request-bar.tsx'
import { RequestPane } from './request-pane.tsx'
import { ResponsePane } from './response/response-pane.tsx'
import classes from './fields/connection.module.css'

type Props = { project: Project; source: Datasource | null; initial: Draft; onMade: (source: Datasource) => void }

/** The request on the left, what it brings on the right. */
export function ConnectionScreen({ project, source, initial, onMade }: Props) {
  const { draft, setDraft, dirty, discard, taken } = useConnectionDraft({ project, source, initial })
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
      onSuccess: ({ made, job }) => {
        taken(made, draft)
        if (job !== undefined) setJobId(job.id)
        else navigate(paths.table(project.id, made.table_name))
      },
    })
  const saveNow = async (): Promise<Datasource> => {
    const saved = await acts.save.mutateAsync(draft)
    taken(saved, draft)
    return saved
  }
  const load = (full: boolean): void => acts.refresh.mutate({ full }, { onSuccess: (job) => setJobId(job.id) })
  const refresh = (): void => load(false)
  // A connection stored as it stands here is fetched in the background, whoever looks on.
  const isStored = source !== null && source.status !== 'new' && !dirty
  const api = useApis(project.id).data?.find(({ name }) => name === draft.api)
  const objects = useObjectsOf(project.id, source?.id)
  const served = servedRows(objects.data ?? []).get(source?.id ?? '')
  const fields = (served?.columns ?? []).map(({ name, source_key: key }) => key ?? name)
  return (
    <>
      <Heading
        title={source?.name ?? 'New connection'}
        within={project.name}
        action={
          editor ? (
            <Group gap="xs">
              {dirty && (
                <Button variant="default" onClick={discard}>
                  Discard changes
                </Button>
              )}
              {source !== null && (
                <>
                  {source.load.mode !== 'replace' && source.status !== 'new' && (
                    <Button variant="default" loading={acts.refresh.isPending} onClick={() => load(true)}>
                      Fetch everything again
                    </Button>
                  )}
                  <DeleteConnection project={project} source={source} />
                </>
              )}
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
      {source !== null && (
        <>
          <HeldNotice project={project} source={source} />
          <NewestDrift project={project} source={source} />
        </>
      )}
      <RequestBar
        draft={draft}
        onChange={change}
        acts={acts}
        named={named}
        editor={editor}
        onFetch={isStored ? refresh : execute}
      />
      {acts.execute.isPending && (
        <ProgressLine words={`Calling ${draft.api ?? hostOf(draft.url)}…`} percent={100} onCancel={acts.execute.stop} />
      )}
      {acts.execute.stopped && (
        <Alert
          variant="default"
          role="alert"
          mb="md"
          withCloseButton
          closeButtonLabel="Close"
          onClose={acts.execute.reset}
        >
          Cancelled. The connection is saved;{' '}
          {source === null || source.status === 'new' ? 'no data was fetched.' : 'its table holds what it held before.'}
        </Alert>
      )}
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
            <div className={classes.name}>
              <TextInput
                label="Name"
                description={source === null ? 'Also names the table.' : undefined}
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
                    onClick={() => acts.save.mutate(draft, { onSuccess: taken })}
                    leftSection={<Save size={16} aria-hidden />}
                  >
                    Save
                  </Button>
                </>
              )}
            </div>
            <ApiField project={project} draft={draft} onChange={change} disabled={!editor} />
          </div>
          <RequestPane
            draft={draft}
            api={api}
            fields={fields}
            onChange={change}
            disabled={!editor}
            environment={<EnvironmentField project={project} draft={draft} onChange={change} disabled={!editor} />}
            forEach={
              <ForEachFields
                project={project}
                tableName={source?.table_name}
                draft={draft}
                onChange={change}
                disabled={!editor}
              />
            }
            connect={<ConnectFields project={project} source={source} save={saveNow} ready={named} api={api} />}
          />
        </div>
        <div className={shared.panel}>
          <Tabs defaultValue={editor ? 'response' : 'history'} keepMounted={false}>
            <Tabs.List aria-label="What came back">
              {editor && <Tabs.Tab value="response">Response</Tabs.Tab>}
              {source !== null && <Tabs.Tab value="history">History</Tabs.Tab>}
            </Tabs.List>
            <Tabs.Panel value="response" className={classes.response ?? ''}>
              <ResponsePane
                tested={acts.test.data}
                error={acts.test.error}
                busy={acts.test.isPending}
                stopped={acts.test.stopped}
                draft={draft}
                onChange={change}
                onTest={() => acts.test.mutate(draft)}
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

/** The called origin, as far as the address is one. */
function hostOf(address: string): string {
  return URL.parse(address)?.host ?? address
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
  const newest = servedRows(objects.data ?? []).get(source.id)
  const described = useObject(project.id, newest === undefined || newest.drift === null ? undefined : newest.id)
  // A version that waits explains itself.
  return source.held === null ? <DriftWarning projectId={project.id} drift={described.data?.drift ?? null} /> : null
}
