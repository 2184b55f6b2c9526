import { Anchor, Button, Group, List, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { definitionOf, missingInputs, usualPrefix } from '../../../../api/catalog-definition.ts'
import type { CatalogEntry } from '../../../../api/catalog.ts'
import { call } from '../../../client/api.ts'
import { useAct } from '../../../client/queries.ts'
import { thingKeys, useDatasources } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { paths } from '../../../browser/paths.ts'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { SourceStatus } from '../shared/source-status.tsx'
import { PlainTable } from '../../../parts/table/list.tsx'
import classes from './catalog.module.css'

export type NamedEntry = { name: string; entry: CatalogEntry }

type Props = { project: Project; named: NamedEntry }
type Made = ReturnType<typeof definitionOf>

async function put(projectId: string, part: Partial<Made>): Promise<void> {
  await call('PUT', `/v1/projects/${projectId}/definition?prune=false`, { body: { definition: 1, ...part } })
}

/** Asks for what an entry needs, makes its connections, and offers its queries once their tables have rows. */
export function EntryPage({ project, named: { name, entry } }: Props) {
  const [values, setValues] = useState<Record<string, string>>({})
  const [prefix, setPrefix] = useState(usualPrefix(name))
  const sources = useDatasources(project.id)
  const isAdded = (table: string): boolean => sources.data?.some((each) => each.table_name === table) === true
  const made = definitionOf(name, entry, { prefix: prefix.trim(), values })
  const added = made.connections.some(({ table_name: table }) => isAdded(table))
  const { queries: _, ...connections } = made
  const connect = useAct(() => put(project.id, connections), { refresh: [thingKeys.sources(project.id)] })
  const missing = missingInputs(entry, values)
  const editor = project.role !== 'viewer'
  return (
    <>
      <Heading title={entry.title} within={project.name}>
        {entry.about}
      </Heading>
      {added ? (
        <Added project={project} made={made} />
      ) : (
        <form
          className={classes.form}
          onSubmit={(event) => {
            event.preventDefault()
            connect.mutate()
          }}
        >
          <Stack gap="md">
            {Object.entries(entry.inputs ?? {}).map(([input, about]) => (
              <InputField
                key={input}
                {...about}
                disabled={!editor}
                value={values[input] ?? ''}
                onChange={(value) => setValues((before) => ({ ...before, [input]: value }))}
              />
            ))}
            {entry.credentials !== undefined && (
              <Text size="sm">
                <Anchor href={entry.credentials} target="_blank" rel="noreferrer">
                  Create it at {entry.title}
                </Anchor>
              </Text>
            )}
            <TextInput
              label="Name"
              description="How its tables and queries begin."
              disabled={!editor}
              value={prefix}
              onChange={(event) => setPrefix(event.currentTarget.value)}
            />
            <Text size="sm" c="dimmed">
              Tables: {made.connections.map(({ table_name: table }) => table).join(', ')}
            </Text>
            <RefusalNotice error={connect.error} />
            <Group gap="sm">
              <Button type="submit" disabled={!editor || missing.length > 0} loading={connect.isPending}>
                Connect
              </Button>
              <Button component={Link} href={paths.catalog(project.id)} variant="default">
                Back to the catalog
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </>
  )
}

type InputProps = NonNullable<CatalogEntry['inputs']>[string] & {
  disabled: boolean
  value: string
  onChange: (value: string) => void
}

function InputField({ label, help, secret, default: usual, example, disabled, value, onChange }: InputProps) {
  const Field = secret === true ? PasswordInput : TextInput
  return (
    <Field
      label={label}
      description={help}
      placeholder={usual ?? example}
      required={usual === undefined}
      disabled={disabled}
      autoComplete="off"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** The tables as they load, and the queries that can be added to them. */
function Added({ project, made }: { project: Project; made: Made }) {
  const sources = useDatasources(project.id)
  const tables = (sources.data ?? []).filter((each) =>
    made.connections.some(({ table_name: table }) => table === each.table_name),
  )
  const ready = tables.filter(({ status }) => status === 'ready').length
  const add = useAct(() => put(project.id, { queries: made.queries }), { refresh: [thingKeys.queries(project.id)] })
  return (
    <Stack gap="lg">
      <section aria-label="Tables">
        <Title order={2} mb="sm">
          Tables
        </Title>
        <PlainTable
          label="Tables"
          head={['Table', 'Connection', 'Status']}
          rows={tables.map((source) => [
            <Link key="table" href={paths.connection(project.id, source.id)}>
              {source.table_name}
            </Link>,
            source.name,
            <SourceStatus key="status" source={source} />,
          ])}
        />
      </section>
      <section aria-label="Queries">
        <Title order={2} mb="sm">
          Queries
        </Title>
        <List mb="md">
          {made.queries.map(({ name, description, examples = [] }) => (
            <List.Item key={name}>
              {add.isSuccess ? <Link href={paths.query(project.id, name)}>{description}</Link> : description}
              {examples.map(({ question }) => (
                <Text key={question} size="sm" c="dimmed">
                  “{question}”
                </Text>
              ))}
            </List.Item>
          ))}
        </List>
        <RefusalNotice error={add.error} />
        {add.isSuccess ? (
          <output>The queries are added. Look at one and deploy it.</output>
        ) : (
          <Button
            disabled={ready === 0 || project.role === 'viewer'}
            loading={add.isPending}
            onClick={() => add.mutate()}
          >
            Add these queries
          </Button>
        )}
        {ready === 0 && (
          <Text size="sm" c="dimmed" mt="xs">
            They can be added when the first table is loaded.
          </Text>
        )}
      </section>
    </Stack>
  )
}
