import { Alert, Group, TextInput } from '@mantine/core'
import { useEffect, useEffectEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { paths } from '../../../browser/paths.ts'
import { useApis } from '../../../client/queries.ts'
import { servedRows } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { useKnownFields, useObject, useObjectsOf } from '../shared/asked.ts'
import shared from '../shared/build.module.css'
import { DriftWarning } from '../shared/drift.tsx'
import { HeldNotice } from '../shared/held.tsx'
import { isCommand, isUrl } from '../shared/pasted.ts'
import type { Datasource } from '../shared/wire.ts'
import { ApiField } from './fields/api-field.tsx'
import { ConnectFields } from './fields/connect-fields.tsx'
import { ConnectionHeader } from './connection-header.tsx'
import { CurlDialog } from './curl-dialog.tsx'
import type { Draft } from './fields/draft.ts'
import { EnvironmentField } from './fields/environment-field.tsx'
import { ForEachFields } from './fields/for-each-fields.tsx'
import { WithHistory } from './history.tsx'
import { JobProgress, ProgressLine } from './job-progress.tsx'
import { useConnectionActs, type ConnectionActs } from './use-connection-acts.ts'
import { useConnectionDraft } from './use-connection-draft.ts'
import { RequestBar } from './request-bar.tsx'
import { RequestPane } from './request-pane.tsx'
import { useRecognised } from './response/recognised.tsx'
import { ResponsePane } from './response/response-pane.tsx'
import classes from './fields/connection.module.css'

type Props = {
  project: Project
  source: Datasource | null
  initial: Draft
  /** An address, a command or a document to begin with. */
  pasted?: string
  onMade: (source: Datasource) => void
}

/** The request on the left, what it brings on the right. */
export function ConnectionScreen({ project, source, initial, pasted = '', onMade }: Props) {
  const { draft, change, dirty, discard, taken } = useConnectionDraft({ project, source, initial })
  const acts = useConnectionActs({ project, source, onMade })
  const editor = project.role !== 'viewer'
  const isNew = source === null || source.status === 'new'
  const { recognised, test, take, paste, pasting, setPasting } = useTesting({ draft, change, acts, isNew, pasted })
  const named = draft.url.trim() !== '' && (draft.name.trim() !== '' || source !== null)
  const { job, execute, load, saveNow } = useLoads({ project, source, draft, taken, acts })
  return (
    <>
      <ConnectionHeader
        project={project}
        source={source}
        isSaving={acts.save.isPending}
        onSave={named && (dirty || isNew) ? () => acts.save.mutate(draft, { onSuccess: taken }) : undefined}
        onDiscard={dirty ? discard : undefined}
        onPaste={() => setPasting('')}
        onLoadAll={() => load(true)}
      />
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
        onTest={() => test()}
        // A connection stored as it stands here is fetched in the background, whoever looks on.
        onFetch={isNew || dirty ? execute : () => load(false)}
        onPaste={paste}
      />
      <Loading source={source} acts={acts} called={draft.api ?? hostOf(draft.url)}>
        {job}
      </Loading>
      <div className={shared.split}>
        <RequestSide
          project={project}
          source={source}
          draft={draft}
          onChange={change}
          disabled={!editor}
          save={saveNow}
          ready={named}
        />
        <WithHistory project={project} source={source} label="What came back" first="Response">
          {editor ? (
            <ResponsePane
              tested={acts.test.data}
              error={acts.test.error}
              busy={acts.test.isPending}
              stopped={acts.test.stopped}
              draft={draft}
              onChange={change}
              isNew={isNew}
              recognised={recognised}
              onTest={() => test()}
              onDocument={() => setPasting(draft.url)}
            />
          ) : undefined}
        </WithHistory>
      </div>
      {pasting !== null && <CurlDialog pasted={pasting} onClose={() => setPasting(null)} onTake={take} />}
    </>
  )
}

type LoadsOf = Pick<Props, 'project' | 'source'> &
  Pick<ReturnType<typeof useConnectionDraft>, 'draft' | 'taken'> & { acts: ConnectionActs }

/** Loads of the connection, at once or in the background, and the progress of the latter. */
function useLoads({ project, source, draft, taken, acts }: LoadsOf) {
  const [jobId, setJobId] = useState<string | null>(null)
  const [, navigate] = useLocation()
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
  const job = jobId !== null && (
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
  )
  return { job, execute, load, saveNow }
}

type Testing = Pick<ReturnType<typeof useConnectionDraft>, 'draft' | 'change'> & {
  acts: ConnectionActs
  isNew: boolean
  pasted: string
}

/** Tests of the draft, by hand and of what is pasted; what they recognise is applied. */
function useTesting({ draft, change, acts, isNew, pasted }: Testing) {
  const [pasting, setPasting] = useState(isCommand(pasted) ? pasted : null)
  const recognised = useRecognised({ change, isNew })
  const test = (tried = draft): void =>
    acts.test.mutate(tried, { onSuccess: (tested) => recognised.applyIfUnset(tested, tried) })
  const take = (part: Partial<Draft>): void => {
    change(part)
    // A request that may change something is left to its author.
    if ((part.method ?? draft.method) === 'GET') test({ ...draft, ...part })
  }
  const paste = (text: string): void => (isUrl(text) ? take({ url: text.trim() }) : setPasting(text))
  // An address stands in the draft from the start.
  const begin = useEffectEvent(() => (isUrl(pasted) ? test() : undefined))
  useEffect(() => begin(), [])
  return { recognised, test, take, paste, pasting, setPasting }
}

type SideProps = {
  project: Project
  source: Datasource | null
  draft: Draft
  onChange: (part: Partial<Draft>) => void
  disabled: boolean
  save: () => Promise<Datasource>
  ready: boolean
}

/** Name, API and the four parts of the request. */
function RequestSide({ project, source, draft, onChange, disabled, save, ready }: SideProps) {
  const api = useApis(project.id).data?.find(({ name }) => name === draft.api)
  const known = useKnownFields(project.id, source?.id)
  const fields = { project, draft, onChange, disabled }
  return (
    <div className={shared.panel}>
      <Group className={classes.name ?? ''} gap="xs" align="flex-start">
        <TextInput
          label="Name"
          description={source === null ? 'Also names the table.' : undefined}
          flex="1 1 12rem"
          value={draft.name}
          disabled={disabled}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
        />
        <ApiField {...fields} />
      </Group>
      <RequestPane
        draft={draft}
        onChange={onChange}
        disabled={disabled}
        api={api}
        fields={known}
        environment={<EnvironmentField {...fields} />}
        forEach={<ForEachFields {...fields} tableName={source?.table_name} />}
        connect={<ConnectFields project={project} source={source} save={save} ready={ready} api={api} />}
      />
    </div>
  )
}

type LoadingProps = {
  source: Datasource | null
  acts: ConnectionActs
  called: string
  children: React.ReactNode
}

/** The load that runs, or how the last one here ended. */
function Loading({ source, acts, called, children }: LoadingProps) {
  return (
    <>
      {acts.execute.isPending && (
        <ProgressLine words={`Calling ${called}…`} percent={100} onCancel={acts.execute.stop} />
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
      {children}
      <RefusalNotice error={acts.execute.error ?? acts.save.error ?? acts.refresh.error} />
    </>
  )
}

/** The called origin, as far as the address is one. */
function hostOf(address: string): string {
  return URL.parse(address)?.host ?? address
}

function NewestDrift({ project, source }: { project: Project; source: Datasource }) {
  const objects = useObjectsOf(project.id, source.id)
  const newest = servedRows(objects.data ?? []).get(source.id)
  const described = useObject(project.id, newest === undefined || newest.drift === null ? undefined : newest.id)
  // A version that waits explains itself.
  return source.held === null ? <DriftWarning projectId={project.id} drift={described.data?.drift ?? null} /> : null
}
