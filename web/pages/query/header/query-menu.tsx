import { ActionIcon, Code, Menu, Modal, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { Copy, Ellipsis, PencilLine, Tag, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { call } from '../../../client/api.ts'
import { ActForm } from '../../../parts/form/act-form.tsx'
import { paths } from '../../../browser/paths.ts'
import { useAct, useEnvironments } from '../../../client/queries.ts'
import { fieldErrors } from '../../../client/refusals.ts'
import { thingKeys, useQueriesOf } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import { TagsDialog, tagsOf } from '../../build/shared/tags.tsx'
import type { Query } from '../../build/shared/wire.ts'
import type { Place } from '../../deploy/shared/place.ts'
import { useHistory } from '../../deploy/shared/queries.ts'
import { DeleteQuery } from './delete-query.tsx'
import { verbOf } from '../deploying/deploy-sheet.tsx'
import { findPrevious, type Move } from '../deploying/moves.ts'
import { NewQueryDialog } from './new-query-dialog.tsx'

type Opened = 'rename' | 'copy' | 'tags' | 'delete' | null

type MenuProps = {
  place: Place
  query: Query
  live: number | null
  onMove: (move: Move) => void
  onUndeploy: () => void
}

/** The acts on a query as a whole, and those on its endpoint that are seldom wanted. */
export function QueryMenu({ place, query, live, onMove, onUndeploy }: MenuProps) {
  const { project } = place
  const [opened, setOpened] = useState<Opened>(null)
  const close = (): void => setOpened(null)
  return (
    <>
      <Menu position="bottom-end" shadow="md" withinPortal={false} withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={`More for ${query.name}`}>
            <Ellipsis size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown miw={220}>
          {live !== null && <EndpointItems place={place} query={query} onMove={onMove} onUndeploy={onUndeploy} />}
          <Menu.Item leftSection={<PencilLine size={15} aria-hidden />} onClick={() => setOpened('rename')}>
            Rename…
          </Menu.Item>
          <Menu.Item leftSection={<Copy size={15} aria-hidden />} onClick={() => setOpened('copy')}>
            Duplicate…
          </Menu.Item>
          <Menu.Item leftSection={<Tag size={15} aria-hidden />} onClick={() => setOpened('tags')}>
            Tags…
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            leftSection={<Trash2 size={15} aria-hidden />}
            c="var(--sluice-danger)"
            onClick={() => setOpened('delete')}
          >
            Delete…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Rename project={project} query={query} opened={opened === 'rename'} onClose={close} />
      <NewQueryDialog
        project={project}
        opened={opened === 'copy'}
        onClose={close}
        title={`Duplicate ${query.name}`}
        content={contentOf(query)}
        name={`${query.name}_copy`.slice(0, 63)}
      >
        The copy has the same saved SQL, slots, description, examples and tags, and is deployed nowhere.
      </NewQueryDialog>
      <QueryTags project={project} query={query} opened={opened === 'tags'} onClose={close} />
      <DeleteQuery project={project} query={query} opened={opened === 'delete'} onClose={close} />
    </>
  )
}

/** To another environment, back, or out of this one. */
function EndpointItems({ place, query, onMove, onUndeploy }: Omit<MenuProps, 'live'>) {
  const { project, environment } = place
  const environments = useEnvironments(project.id)
  const history = useHistory({ projectId: project.id, name: query.name })
  const previous = findPrevious(history.data ?? [], environment)
  const moves = (environments.data ?? [])
    .filter(({ name }) => name !== environment)
    .map(({ name }): Move => ({ kind: 'promote', from: environment, environment: name }))
  return (
    <>
      {moves.map((move) => (
        <Menu.Item key={move.environment} onClick={() => onMove(move)}>
          {verbOf(move)} to {move.environment}…
        </Menu.Item>
      ))}
      {previous !== null && (
        <Menu.Item onClick={() => onMove({ kind: 'rollback', environment, version: previous })}>
          Roll back to version {previous}…
        </Menu.Item>
      )}
      <Menu.Item onClick={onUndeploy}>Undeploy from {environment}…</Menu.Item>
      <Menu.Divider />
    </>
  )
}

type Props = { project: Project; query: Query }

/** A name that callers know stays: a copy gets the new one. */
function Rename({ project, query, opened, onClose }: DialogProps) {
  if (query.deployments.length === 0) {
    return (
      <Modal opened={opened} onClose={onClose} title={`Rename ${query.name}`}>
        {opened && <RenameForm project={project} query={query} onClose={onClose} />}
      </Modal>
    )
  }
  return (
    <NewQueryDialog
      project={project}
      opened={opened}
      onClose={onClose}
      title={`Rename ${query.name}`}
      content={contentOf(query)}
    >
      <Code>{query.name}</Code> answers in {query.deployments.map(({ environment }) => environment).join(', ')}, and
      callers know it by this name. It goes on answering: a copy gets the new name. Deploy the copy, move callers to it,
      and undeploy <Code>{query.name}</Code> once nobody calls it.
    </NewQueryDialog>
  )
}

type DialogProps = Props & { opened: boolean; onClose: () => void }

function RenameForm({ project, query, onClose }: Omit<DialogProps, 'opened'>) {
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const form = useForm({
    initialValues: { name: query.name },
    validate: { name: (typed) => (typed === '' ? 'Give it a name.' : null) },
  })
  const rename = useAct(
    async (name: string) => {
      const path = `/v1/projects/${project.id}/queries/${query.name}/rename`
      const renamed = await call<Query>('POST', path, { body: { name } })
      client.setQueryData(thingKeys.query(project.id, renamed.name), renamed)
      navigate(paths.query(project.id, renamed.name), { replace: true })
      return renamed
    },
    { refresh: [thingKeys.queries(project.id)], say: ({ name }) => `It is called ${name} now.` },
  )
  return (
    <ActForm
      onSubmit={form.onSubmit(({ name }) =>
        rename.mutate(name, { onError: (error) => form.setErrors(fieldErrors(error)), onSuccess: onClose }),
      )}
      act={rename}
      fields={['name']}
      verb="Rename"
      onClose={onClose}
    >
      <Text>
        It is deployed nowhere, so no caller notices. Its versions, evaluation cases and alerts follow; API keys that
        are limited to the old name must be given the new one.
      </Text>
      <TextInput label="New name" data-autofocus {...form.getInputProps('name')} />
    </ActForm>
  )
}

function QueryTags({ project, query, opened, onClose }: DialogProps) {
  const all = useQueriesOf(project.id, opened)
  const client = useQueryClient()
  const tag = useAct(
    async (tags: string[]) => {
      const path = `/v1/projects/${project.id}/queries/${query.name}/tags`
      const tagged = await call<Query>('PUT', path, { body: { tags } })
      client.setQueryData<Query>(thingKeys.query(project.id, query.name), (known) =>
        known === undefined ? tagged : { ...known, tags: tagged.tags },
      )
    },
    { refresh: [thingKeys.queries(project.id)], say: () => 'The tags are saved.' },
  )
  return (
    <TagsDialog
      opened={opened}
      onClose={onClose}
      name={query.name}
      tags={query.tags}
      known={tagsOf(all.data ?? [])}
      act={tag}
    />
  )
}

/** The fields that a copy takes over. */
function contentOf(query: Query) {
  const { sql, slots, description, examples, chart, tags } = query
  const { cache_seconds, timeout_ms, max_rows, max_bytes, rate_limit, as_tool } = query
  return {
    sql,
    slots,
    description,
    examples,
    chart,
    tags,
    cache_seconds,
    timeout_ms,
    max_rows,
    max_bytes,
    rate_limit,
    as_tool,
  }
}
