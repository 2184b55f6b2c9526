import { Badge, Button, Checkbox, Code, Drawer, Group, List, Loader, Select, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../../api.ts'
import { RefusalNotice } from '../../../parts/refusal.tsx'
import { Ago } from '../../../parts/time.tsx'
import { useAct, useEnvironments } from '../../../queries.ts'
import type { Project } from '../../../wire.ts'
import { thingKeys } from '../../../things.ts'
import { buildKeys } from '../asked.ts'
import type { Deployment, Query, VersionsDiff } from '../wire.ts'
import classes from './query.module.css'

type Props = { project: Project; query: Query; opened: boolean; onClose: () => void }

/** What deploying would change and for whom, before it does. */
export function DeploySheet(props: Props) {
  return (
    <Drawer
      opened={props.opened}
      onClose={props.onClose}
      position="right"
      size="lg"
      title={`Deploy ${props.query.name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
      attributes={{ header: { role: 'presentation' } }}
      transitionProps={{ duration: 120 }}
      styles={{ title: { fontWeight: 600, fontSize: '1rem' } }}
    >
      <Sheet {...props} />
    </Drawer>
  )
}

function Sheet({ project, query, onClose }: Props) {
  const [environment, setEnvironment] = useState('production')
  const [sure, setSure] = useState(false)
  const environments = useEnvironments(project.id)
  const client = useQueryClient()
  const path = `/v1/projects/${project.id}/queries/${query.name}`
  const check = useQuery({
    queryKey: [...buildKeys.query(project.id, query.name), 'check', environment, query.revision],
    gcTime: 0,
    queryFn: ({ signal }) => call<Deployment>('POST', `${path}/deploy`, { body: { environment, check: true }, signal }),
  })
  const report = check.data
  const breaking = report?.compatibility === 'breaking'
  // Both are refused unless they are meant.
  const risky = breaking || (report?.routing.regressions.length ?? 0) > 0
  const deploy = useAct(
    async () => {
      const made = await call<Deployment>('POST', `${path}/deploy`, { body: { environment, force: risky && sure } })
      const fresh = await call<Query>('GET', path)
      client.setQueryData(buildKeys.query(project.id, query.name), fresh)
      return made
    },
    {
      refresh: [thingKeys.queries(project.id)],
      say: ({ name, version }) => `${name} version ${version} answers in ${environment} now.`,
    },
  )
  return (
    <Stack gap="md">
      <Select
        label="Environment"
        data={environments.data?.map(({ name }) => name) ?? [environment]}
        value={environment}
        onChange={(next) => {
          setEnvironment(next ?? 'production')
          setSure(false)
        }}
      />
      <RefusalNotice error={check.error} onRetry={() => void check.refetch()} />
      {check.isPending && <Loader size="sm" aria-label="Checking" />}
      {report !== undefined && (
        <>
          <Verdict report={report} />
          <Text c="dimmed">
            Version {report.version} answers at <Code>POST /v1/queries/{query.name}</Code>.
          </Text>
          <Difference path={path} from={report.previous_version} revision={query.revision} />
          {risky && (
            <Checkbox
              label={
                breaking
                  ? `Deploy it although callers in ${environment} may break`
                  : 'Deploy it although questions would go elsewhere'
              }
              checked={sure}
              onChange={(event) => setSure(event.currentTarget.checked)}
            />
          )}
        </>
      )}
      <RefusalNotice error={deploy.error} />
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          color={risky ? 'red.9' : 'tide'}
          disabled={report === undefined || (risky && !sure)}
          loading={deploy.isPending}
          onClick={() => deploy.mutate(undefined, { onSuccess: onClose })}
        >
          Deploy {query.name} to {environment}
        </Button>
      </Group>
    </Stack>
  )
}

const verdicts: Record<Deployment['compatibility'], string> = {
  first: 'It is not deployed here yet: nobody calls it, nothing can break.',
  compatible: 'Existing callers notice nothing.',
  additive: 'It only adds. Existing callers are unaffected.',
  breaking: 'Existing callers may break.',
}

const levels = { compatible: 'unnoticed', additive: 'adds', breaking: 'breaks' } as const

function Verdict({ report }: { report: Deployment }) {
  return (
    <div className={classes.verdict} data-level={report.compatibility} aria-live="polite">
      <Text fw={600}>{verdicts[report.compatibility]}</Text>
      {report.previous_version !== null && (
        <Text size="xs" c="dimmed">
          Version {report.previous_version} answers now.
        </Text>
      )}
      {report.changes.length > 0 && (
        <List mt="xs" spacing={4}>
          {report.changes.map(({ level, message }) => (
            <List.Item key={message}>
              {message}{' '}
              <Badge variant="default" size="xs" radius="sm" tt="none" fw={500}>
                {levels[level]}
              </Badge>
            </List.Item>
          ))}
        </List>
      )}
      {report.callers.length > 0 && (
        <>
          <Text mt="xs" fw={500}>
            Keys that called it in the last 30 days
          </Text>
          <List>
            {report.callers.map(({ key_id: id, name, last_called_at: at }) => (
              <List.Item key={id}>
                {name ?? <Code>{id}</Code>}, last <Ago at={at} />
              </List.Item>
            ))}
          </List>
        </>
      )}
      {report.routing.checked > 0 && (
        <Text mt="xs">
          {report.routing.regressions.length === 0
            ? `All ${report.routing.checked} example questions still find their query.`
            : `${report.routing.regressions.length} of ${report.routing.checked} example questions would go elsewhere.`}
        </Text>
      )}
      {report.routing.regressions.length > 0 && (
        <List>
          {report.routing.regressions.slice(0, 5).map(({ question, query, taken_by: taker }) => (
            <List.Item key={question}>
              “{question}” goes from {query ?? 'no query'} to {taker ?? 'no query'}
            </List.Item>
          ))}
        </List>
      )}
    </div>
  )
}

function Difference({ path, from, revision }: { path: string; from: number | null; revision: number }) {
  const diff = useQuery({
    queryKey: ['diff', path, from, revision],
    enabled: from !== null,
    queryFn: ({ signal }) => call<VersionsDiff>('GET', `${path}/diff?from=${from}`, { signal }),
  })
  if (from === null || diff.data === undefined || diff.data.diff === '') return null
  const lines = diff.data.diff.split('\n').slice(2)
  return (
    <div>
      <Text fw={500} mb={4}>
        What changes since version {from}
      </Text>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by the keyboard */}
      <section className={classes.diff} tabIndex={0} aria-label="Difference">
        {lines.map((line, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- lines repeat and never move
          <span key={index} data-kind={line.charAt(0)}>
            {line}
          </span>
        ))}
      </section>
    </div>
  )
}
