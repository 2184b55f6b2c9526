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
import { servedRows, thingKeys } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { saySize } from '../../../text/words.ts'
import { buildKeys, useObjectsOf } from '../shared/asked.ts'
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
// Over 70 lines: one form, with what becomes of it beside it.
export function FileScreen({ project, source, onMade }: Props) {
  const [name, setName] = useState(source?.name ?? '')
  const [load, setLoad] = useState(source === null ? emptyDraft.load : loadDraftOf(source.load))
  const [extractor, setExtractor] = useState('')
  const [keepVersions, setKeepVersions] = useState(source?.keep_versions ?? emptyDraft.keepVersions)
  const [sending, setSending] = useState<Sending | null>(null)
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const editor = project.role !== 'viewer'
  const path = `/v1/projects/${project.id}/datasources`
  const refresh = [thingKeys.sources(project.id), thingKeys.objects(project.id)]

  const store = async (): Promise<Datasource> => {
    const settings = { name: name.trim(), load: loadOf(load), keep_versions: keepVersions }
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
  const save = useAct(store, { refresh, say: (saved) => `${saved.name} is saved.` })
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
      onSuccess: (made) => navigate(paths.table(project.id, made.table_name)),
      onSettled: () => setSending(null),
    })
  const objects = useObjectsOf(project.id, source?.id)
  const served = servedRows(objects.data ?? []).get(source?.id ?? '')
  const fields = (served?.columns ?? []).map((column) => column.source_key ?? column.name)
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
        <div className={shared.panel}>
          <Stack gap="md" className={classes.fields ?? ''}>
            <Group align="flex-end" gap="sm">
              <TextInput
                label="Name"
                description={source === null ? 'Also names the table.' : undefined}
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
            {editor && <FileDrop onFile={send} disabled={name.trim() === '' || upload.isPending} />}
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
