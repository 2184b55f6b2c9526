import { Group, NumberInput, Switch, TagsInput, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { call } from '../../client/api.ts'
import { Card } from '../../parts/text/card.tsx'
import { SettingsForm } from '../../parts/form/settings-form.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { useAct } from '../../client/queries.ts'
import type { Project, ReplaySettings } from '../../client/wire.ts'

const settingsKey = (projectId: string) => ['projects', projectId, 'replay-settings']
const pathOf = (projectId: string): string => `/v1/projects/${projectId}/replay-settings`

/** Whether calls are written down to be run again before a release, and which of their values never are. */
export function RecordedCallsCard({ project }: { project: Project }) {
  const settings = useQuery({
    queryKey: settingsKey(project.id),
    queryFn: ({ signal }) => call<ReplaySettings>('GET', pathOf(project.id), { signal }),
  })
  return (
    <Card
      title="Recorded calls"
      about="A sample of the calls, sealed, to be run on what is new before a release: the plan then says which would be answered otherwise. The log of calls tells editors their values."
    >
      <Loaded query={settings}>{(found) => <RecordingForm project={project} settings={found} />}</Loaded>
    </Card>
  )
}

function RecordingForm({ project, settings }: { project: Project; settings: ReplaySettings }) {
  const owner = project.role === 'owner'
  const save = useAct((body: ReplaySettings) => call<ReplaySettings>('PUT', pathOf(project.id), { body }), {
    refresh: [settingsKey(project.id)],
    say: ({ recording }) => (recording ? 'Calls are recorded from now on.' : 'Calls are not recorded.'),
  })
  const form = useForm({ initialValues: settings })
  const { recording, redacted_slots: redacted } = form.values
  const isForgetting =
    settings.recording && (!recording || redacted.some((slot) => !settings.redacted_slots.includes(slot)))
  return (
    <SettingsForm form={form} act={save} verb="Apply" locked={owner ? undefined : 'Owners choose what is recorded.'}>
      <Switch label="Record calls" disabled={!owner} {...form.getInputProps('recording', { type: 'checkbox' })} />
      <Group gap="md" align="flex-start">
        <NumberInput
          label="Calls of each query"
          min={1}
          max={10_000}
          w={160}
          disabled={!owner || !recording}
          {...form.getInputProps('max_calls')}
        />
        <NumberInput
          label="Days"
          min={1}
          max={365}
          w={120}
          disabled={!owner || !recording}
          {...form.getInputProps('days')}
        />
        <TagsInput
          label="Slots that are never written down"
          description="In their place a replay uses the value of an example."
          placeholder={redacted.length === 0 ? 'customer, e-mail …' : ''}
          w={320}
          disabled={!owner}
          {...form.getInputProps('redacted_slots')}
        />
      </Group>
      {isForgetting && <Text c="var(--sluice-danger)">What was recorded so far is removed when you save this.</Text>}
    </SettingsForm>
  )
}
