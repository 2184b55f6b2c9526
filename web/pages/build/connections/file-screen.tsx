import { Alert, Box, Button, Group, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Save } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { call } from '../../../client/api.ts'
import { Heading } from '../../../parts/text/heading.tsx'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { paths } from '../../../browser/paths.ts'
import { useAct, useStoppable } from '../../../client/queries.ts'
import { sendFile } from '../../../client/send-file.ts'
import { thingKeys } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { saySize } from '../../../text/words.ts'
import { buildKeys, useKnownFields } from '../shared/asked.ts'
import shared from '../shared/build.module.css'
import { HeldNotice } from '../shared/held.tsx'
import type { Datasource, Executed } from '../shared/wire.ts'
import classes from './fields/connection.module.css'
import { ConnectionMenu } from './connection-menu.tsx'
import { emptyDraft } from './fields/draft.ts'
import { FileDrop } from './file-drop.tsx'
import { WithHistory } from './history.tsx'
import { ProgressLine } from './job-progress.tsx'
import { LoadFields } from './fields/load-fields.tsx'
import { loadDraftOf, loadOf } from './fields/load.ts'

type Props = { project: Project; source: Datasource | null; onMade: (source: Datasource) => void }
type Sending = { name: string; sizeBytes: number; sentBytes: number }

/** A table that files are sent to: its name, what a file does to it, and the place to drop one. */
export function FileScreen({ project, source, onMade }: Props) {
  const [name, setName] = useState(source?.name ?? '')
  const [load, setLoad] = useState(source === null ? emptyDraft.load : loadDraftOf(source.load))
  const [extractor, setExtractor] = useState('')
  const [keepVersions, setKeepVersions] = useState(source?.keep_versions ?? emptyDraft.keepVersions)
  const editor = project.role !== 'viewer'
  const path = `/v1/projects/${project.id}/datasources`
  const refresh = [thingKeys.sources(project.id), thingKeys.objects(project.id)]

  const settings = { name: name.trim(), load: loadOf(load), keep_versions: keepVersions }
  const store = useStore({ project, source, onMade }, settings)
  const save = useAct(store, { refresh, say: (saved) => `${saved.name} is saved.` })
  const { upload, sending, send } = useUpload({ path, store, extractor, refresh, projectId: project.id })
  const fields = useKnownFields(project.id, source?.id)
  return (
    <>
      <Heading
        title={source?.name ?? 'New table from files'}
        within={project.name}
        action={editor && source !== null ? <ConnectionMenu project={project} source={source} /> : undefined}
      >
        {source === null || source.status === 'new' ? (
          'Files that you have become a table, by the same rules as the answer of an API.'
        ) : (
          <Link href={paths.table(project.id, source.table_name)}>{source.table_name}</Link>
        )}
      </Heading>
      {source !== null && <HeldNotice project={project} source={source} />}
      {sending !== null && <SendingLine sending={sending} onCancel={upload.stop} />}
      {upload.stopped && (
        <Alert variant="default" role="alert" mb="md" withCloseButton closeButtonLabel="Close" onClose={upload.reset}>
          Cancelled. The table holds what it held before.
        </Alert>
      )}
      <Box mb="md">
        <RefusalNotice error={upload.error ?? save.error} />
      </Box>
      <div className={shared.split}>
        <FilePanel
          {...{ name, setName, extractor, setExtractor, editor }}
          isNew={source === null}
          save={save}
          busy={upload.isPending}
          onFile={send}
        />
        <WithHistory project={project} source={source} label="What was sent" first="Load">
          <Stack gap="md">
            <LoadFields
              draft={{ ...emptyDraft, load }}
              fields={fields}
              onChange={(part) => setLoad(part.load ?? load)}
              disabled={!editor}
              by="file"
            />
            <NumberInput
              label="Versions of the data to keep"
              maw="26rem"
              min={1}
              max={1000}
              allowDecimal={false}
              value={keepVersions}
              disabled={!editor}
              onChange={(count) => setKeepVersions(Number(count) || 1)}
            />
          </Stack>
        </WithHistory>
      </div>
    </>
  )
}

type Settings = { name: string; load: ReturnType<typeof loadOf>; keep_versions: number }

/** Saves the table, or makes it and goes to its page. */
function useStore({ project, source, onMade }: Props, settings: Settings) {
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const path = `/v1/projects/${project.id}/datasources`
  return async (): Promise<Datasource> => {
    if (source !== null) {
      const saved = await call<Datasource>('PATCH', `${path}/${source.id}`, { body: settings })
      client.setQueryData(buildKeys.source(project.id, source.id), saved)
      return saved
    }
    const made = await call<Datasource>('POST', path, { body: { ...settings, kind: 'file' } })
    onMade(made)
    navigate(paths.connection(project.id, made.id), { replace: true })
    return made
  }
}

type Uploading = {
  path: string
  store: () => Promise<Datasource>
  extractor: string
  refresh: Array<readonly unknown[]>
  projectId: string
}

/** Sends a file to the table, which is stored first. */
function useUpload({ path, store, extractor, refresh, projectId }: Uploading) {
  const [sending, setSending] = useState<Sending | null>(null)
  const [, navigate] = useLocation()
  const upload = useStoppable(async (file: File, signal) => {
    const made = await store()
    setSending({ name: file.name, sizeBytes: file.size, sentBytes: 0 })
    const asked = new URLSearchParams({ filename: file.name, ...(extractor.trim() !== '' && { extractor }) })
    const onProgress = (sentBytes: number): void => setSending({ name: file.name, sizeBytes: file.size, sentBytes })
    await sendFile<Executed>(`${path}/${made.id}/files?${asked.toString()}`, file, { onProgress, signal })
    return made
  }, refresh)
  const send = (file: File): void =>
    upload.mutate(file, {
      onSuccess: (made) => navigate(paths.table(projectId, made.table_name)),
      onSettled: () => setSending(null),
    })
  return { upload, sending, send }
}

type PanelProps = {
  isNew: boolean
  editor: boolean
  name: string
  setName: (name: string) => void
  extractor: string
  setExtractor: (extractor: string) => void
  save: ReturnType<typeof useAct<Datasource, void>>
  busy: boolean
  onFile: (file: File) => void
}

/** Its name, the place to drop a file, and where the rows are in it. */
function FilePanel({ isNew, editor, name, setName, extractor, setExtractor, save, busy, onFile }: PanelProps) {
  return (
    <div className={shared.panel}>
      <Stack gap="md" className={classes.fields ?? ''}>
        <Group align="flex-end" gap="sm">
          <TextInput
            label="Name"
            description={isNew ? 'Also names the table.' : undefined}
            flex="1 1 12rem"
            value={name}
            disabled={!editor}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {editor && (
            <Button
              variant="default"
              leftSection={<Save size={16} aria-hidden />}
              disabled={name.trim() === ''}
              loading={save.isPending}
              onClick={() => save.mutate()}
            >
              Save
            </Button>
          )}
        </Group>
        {editor && <FileDrop onFile={onFile} disabled={name.trim() === '' || busy} />}
        {editor && name.trim() === '' && (
          <Text size="xs" c="dimmed">
            Give it a name first.
          </Text>
        )}
        <TextInput
          label="Rows are at"
          description="In JSON or XML a key path such as data.items; of Excel the name of a sheet. Empty finds them."
          value={extractor}
          disabled={!editor}
          onChange={(event) => setExtractor(event.currentTarget.value)}
        />
      </Stack>
    </div>
  )
}

function SendingLine({ sending, onCancel }: { sending: Sending; onCancel: () => void }) {
  const { name, sizeBytes, sentBytes } = sending
  const isSent = sentBytes >= sizeBytes
  const line = isSent
    ? { words: `${name} is there and becomes a table…`, percent: 100 }
    : {
        words: `Sending ${name}:`,
        reached: `${saySize(sentBytes)} of ${saySize(sizeBytes)}`,
        percent: (100 * sentBytes) / sizeBytes,
      }
  return <ProgressLine {...line} onCancel={onCancel} />
}
