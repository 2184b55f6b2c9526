import { Badge, Button, Code, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { FileCode2, Plus } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { call } from '../../../client/api.ts'
import { Empty } from '../../../parts/text/empty.tsx'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { FormEnd } from '../../../parts/form/form-end.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { deployPath, paths } from '../../../browser/paths.ts'
import { useAct } from '../../../client/queries.ts'
import { fieldErrors } from '../../../client/refusals.ts'
import { servedRows, thingKeys, useObjects, useQueriesOf } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import shared from '../shared/build.module.css'
import { ListTable } from '../shared/list-table.tsx'
import { NoneFound, TagList, useSorting } from '../shared/tags.tsx'
import type { Query } from '../shared/wire.ts'

export function QueriesSection({ project }: { project: Project }) {
  const queries = useQueriesOf(project.id)
  const asked = new URLSearchParams(useSearch()).get('new')
  const [creating, setCreating] = useState(asked !== null)
  const editor = project.role !== 'viewer'
  const create = editor ? (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      New query
    </Button>
  ) : undefined
  return (
    <>
      <Heading title="Queries" within={project.name} action={(queries.data?.length ?? 0) > 0 ? create : undefined}>
        SQL over the tables of this project. Deployed, each answers under its name.
      </Heading>
      <Loaded query={queries}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={<FileCode2 size={20} />} action={create} guide="write-a-query">
              A query is one SELECT over the project’s tables. Write <Code>$name</Code> for what callers choose.
            </Empty>
          ) : (
            <QueryList project={project} queries={list} />
          )
        }
      </Loaded>
      {editor && (
        <Modal opened={creating} onClose={() => setCreating(false)} title="New query">
          <NewQueryForm project={project} table={asked === '' ? null : asked} onClose={() => setCreating(false)} />
        </Modal>
      )}
    </>
  )
}

function QueryList({ project, queries }: { project: Project; queries: Query[] }) {
  const { shown, field } = useSorting(queries, ({ name, description }) => `${name} ${description}`)
  return (
    <>
      {field}
      {shown.length === 0 ? (
        <NoneFound what="query" />
      ) : (
        <ListTable label="Queries" items={shown} what="queries" head={['Query', 'Deployed', 'Edited']}>
          {(query) => <Line key={query.id} project={project} query={query} />}
        </ListTable>
      )}
    </>
  )
}

function Line({ project, query }: { project: Project; query: Query }) {
  return (
    <tr>
      <td>
        <Link href={paths.query(project.id, query.name)} className={shared.name}>
          {query.name}
        </Link>{' '}
        <TagList tags={query.tags} />
        {query.description !== '' && (
          <Text size="xs" c="dimmed" lineClamp={1}>
            {query.description}
          </Text>
        )}
      </td>
      <td>
        <DeployedIn project={project} query={query} />
      </td>
      <td>
        <Text component="span" c="dimmed">
          <Ago at={query.updated_at} />
        </Text>
      </td>
    </tr>
  )
}

/** Where it answers, each the way to its endpoint. */
export function DeployedIn({ project, query }: { project: Project; query: Query }) {
  if (query.deployments.length === 0) {
    return (
      <Text component="span" c="dimmed">
        Not deployed
      </Text>
    )
  }
  return (
    <Group gap={6} component="span" display="inline-flex">
      {query.deployments.map(({ environment, version }) => (
        <Badge
          key={environment}
          component={Link}
          href={deployPath(project.id, `endpoints/${query.name}`, environment)}
          variant="default"
          radius="sm"
          tt="none"
          fw={500}
          c="var(--sluice-accent-text)"
          className={shared.badge ?? ''}
          aria-label={`${environment} v${version}, the endpoint`}
        >
          {environment} v{version}
        </Badge>
      ))}
      {query.changed && (
        <Text component="span" size="xs" c="dimmed">
          edited since
        </Text>
      )}
    </Group>
  )
}

type FormProps = { project: Project; table: string | null; onClose: () => void }

function NewQueryForm({ project, table, onClose }: FormProps) {
  const objects = useObjects(project.id)
  const [, navigate] = useLocation()
  const tables = [...servedRows(objects.data ?? []).values()].map(({ table_name: name }) => name).sort()
  const create = useAct(
    async ({ name, over }: { name: string; over: string }) => {
      const sql = over === '' ? 'select 1 as one' : `select *\nfrom ${over}\nlimit 100`
      const made = await call<Query>('POST', `/v1/projects/${project.id}/queries`, { body: { name, sql } })
      navigate(paths.query(project.id, made.name))
      return made
    },
    { refresh: [thingKeys.queries(project.id)] },
  )
  const form = useForm({
    initialValues: { name: '', over: table ?? '' },
    validate: { name: (name) => (name === '' ? 'Give it a name.' : null) },
  })
  const over = form.values.over === '' ? (tables[0] ?? '') : form.values.over
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ name }) =>
        create.mutate({ name, over }, { onError: (error) => form.setErrors(fieldErrors(error)) }),
      )}
    >
      <Stack gap="md">
        <TextInput
          label="Name"
          description="Callers use it, so it stays. Lower-case letters, digits and _."
          placeholder="sales_by_region"
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps('name')}
        />
        {/* Always there: a field that comes later moves the button below it under the pointer. */}
        <Select
          label="Begin with the table"
          placeholder={objects.isPending ? '' : 'There is no table yet'}
          data={tables}
          value={over === '' ? null : over}
          disabled={tables.length === 0}
          onChange={(next) => form.setFieldValue('over', next ?? '')}
        />
        <FormEnd act={create} fields={['name']} verb="Create query" onClose={onClose} />
      </Stack>
    </form>
  )
}
