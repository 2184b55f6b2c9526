import { Group, NumberInput, Select, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { call } from '../../client/api.ts'
import { Card } from '../../parts/text/card.tsx'
import { SettingsForm } from '../../parts/form/settings-form.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { Row, Rows } from '../../parts/table/rows.tsx'
import { paths } from '../../browser/paths.ts'
import { useAct } from '../../client/queries.ts'
import { useDatasources } from '../../client/things.ts'
import type { Limit, Project, QuestionSettings } from '../../client/wire.ts'
import { RecordedCallsCard } from './recorded-calls.tsx'

/** How long things are kept. */
export function RetentionSection({ project }: { project: Project }) {
  return (
    <>
      <Heading title="Retention" within={project.name}>
        How long questions, data and records of calls are kept.
      </Heading>
      <Stack gap="lg">
        <QuestionsCard project={project} />
        <RecordedCallsCard project={project} />
        <DataCard project={project} />
        <ServiceCard />
      </Stack>
    </>
  )
}

const settingsKey = (projectId: string) => ['projects', projectId, 'question-settings']

function QuestionsCard({ project }: { project: Project }) {
  const settings = useQuery({
    queryKey: settingsKey(project.id),
    queryFn: ({ signal }) => call<QuestionSettings>('GET', `/v1/projects/${project.id}/questions/settings`, { signal }),
  })
  return (
    <Card title="Questions" about="What people asked, from which missed ones become examples.">
      <Loaded query={settings}>{(found) => <QuestionsForm project={project} settings={found} />}</Loaded>
    </Card>
  )
}

const logs = [
  { value: 'full', label: 'With their words' },
  { value: 'redacted', label: 'Without their words' },
  { value: 'off', label: 'Not at all' },
]

function QuestionsForm({ project, settings }: { project: Project; settings: QuestionSettings }) {
  const owner = project.role === 'owner'
  const save = useAct(
    (body: QuestionSettings) =>
      call<QuestionSettings>('PUT', `/v1/projects/${project.id}/questions/settings`, { body }),
    { refresh: [settingsKey(project.id)], say: () => 'The settings of questions are changed.' },
  )
  const form = useForm({ initialValues: settings })
  return (
    <SettingsForm form={form} act={save} verb="Save" locked={owner ? undefined : 'Owners change this.'}>
      <Group gap="md" align="flex-start">
        <Select label="Keep them" data={logs} disabled={!owner} w={200} {...form.getInputProps('log')} />
        <NumberInput
          label="For days"
          min={1}
          max={3650}
          w={120}
          disabled={!owner || form.values.log === 'off'}
          {...form.getInputProps('retention_days')}
        />
        <NumberInput
          label="Answer from this confidence on"
          description={sayWrong(form.values.min_confidence)}
          min={0}
          max={0.99}
          step={0.05}
          decimalScale={2}
          w={260}
          disabled={!owner}
          {...form.getInputProps('min_confidence')}
        />
      </Group>
      {form.values.log === 'off' && settings.log !== 'off' && (
        <Text c="var(--sluice-danger)">What was kept so far is removed when you save this.</Text>
      )}
    </SettingsForm>
  )
}

/** The meaning of the number for those who read answers. */
function sayWrong(least: number): string {
  return least > 0 ? `Each is right in at least ${Math.round(least * 100)} of 100 cases.` : 'All that a query answers.'
}

function DataCard({ project }: { project: Project }) {
  const sources = useDatasources(project.id)
  return (
    <Card title="Data" about="Each refresh is a version of its table. Older ones than these are removed.">
      <Loaded query={sources}>
        {(list) =>
          list.length === 0 ? (
            <Text c="dimmed">There is no connection yet.</Text>
          ) : (
            <Rows label="Versions kept">
              {list.map((source) => (
                <Row
                  key={source.id}
                  end={
                    <Text className="numbers">
                      {source.keep_versions === 1 ? 'the newest version' : `${source.keep_versions} versions`}
                    </Text>
                  }
                >
                  <Link href={paths.connection(project.id, source.id)}>{source.name}</Link>
                </Row>
              ))}
            </Rows>
          )
        }
      </Loaded>
    </Card>
  )
}

const ofService: Record<string, string> = {
  request_retention_days: 'Single calls',
  rollup_retention_days: 'Figures of calls',
  job_retention_days: 'Finished jobs',
  alert_retention_days: 'History of alerts',
}

function ServiceCard() {
  const limits = useQuery({
    queryKey: ['limits'],
    staleTime: Infinity,
    queryFn: async ({ signal }) => (await call<{ data: Limit[] }>('GET', '/v1/limits', { signal })).data,
  })
  return (
    <Card title="Records" about="The same for every project; whoever runs the service sets them.">
      <Loaded query={limits}>
        {(list) => (
          <Rows label="Records">
            {list
              .filter(({ name }) => Object.hasOwn(ofService, name))
              .map(({ name, value }) => (
                <Row key={name} end={<Text className="numbers">{value} days</Text>}>
                  {ofService[name]}
                </Row>
              ))}
          </Rows>
        )}
      </Loaded>
    </Card>
  )
}
