import { ActionIcon, Button, Checkbox, Modal, Popover, Text, TextInput, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Bookmark, Trash2, Users } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { call } from '../../client/api.ts'
import { ActForm } from '../../parts/form/act-form.tsx'
import { useAct } from '../../client/queries.ts'
import type { Page } from '../../client/wire.ts'
import { useAddress } from '../../parts/text/address.ts'
import classes from '../deploy/shared/deploy.module.css'
import type { Place } from '../deploy/shared/place.ts'
import type { SavedView } from '../deploy/shared/usage-wire.ts'

type Props = { place: Pick<Place, 'project' | 'editor'>; page: SavedView['page'] }

/** Parameters of the address that are no filter. */
const passing = new Set(['request', 'environment'])

/** Saved filters, under a name: to come back to, and for others. */
export function SavedViews({ place: { project, editor }, page }: Props) {
  const path = `/v1/projects/${project.id}/views`
  const key = ['projects', project.id, 'views', page]
  const { asked } = useAddress()
  const [here, navigate] = useLocation()
  const [opened, setOpened] = useState(false)
  const [saving, setSaving] = useState(false)
  const views = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => (await call<Page<SavedView>>('GET', `${path}?page=${page}`, { signal })).data,
  })
  const remove = useAct((view: SavedView) => call<undefined>('DELETE', `${path}/${view.id}`), {
    refresh: [key],
    say: (_, { name }) => `${name} is deleted.`,
  })
  const shown = Object.fromEntries([...asked].filter(([name]) => !passing.has(name)))
  const list = views.data ?? []
  const current = list.find(({ filter }) => isSame(filter, shown))
  const open = ({ filter }: SavedView): void => {
    setOpened(false)
    const search = new URLSearchParams(filter)
    const environment = asked.get('environment')
    if (environment !== null) search.set('environment', environment)
    navigate(search.size === 0 ? here : `${here}?${search}`)
  }
  return (
    <>
      <Popover position="bottom-end" width={300} withinPortal={false} opened={opened} onChange={setOpened} trapFocus>
        <Popover.Target>
          <Button variant="default" leftSection={<Bookmark size={16} aria-hidden />} onClick={() => setOpened(!opened)}>
            {current?.name ?? 'Views'}
          </Button>
        </Popover.Target>
        <Popover.Dropdown p="xs">
          {list.length === 0 ? (
            <Text size="sm" c="dimmed" px="xs" pb="xs">
              Save what is chosen here under a name, to come back to it.
            </Text>
          ) : (
            <ViewList views={list} editor={editor} onOpen={open} onDelete={remove.mutate} />
          )}
          <Button
            variant="default"
            size="xs"
            fullWidth
            onClick={() => {
              setOpened(false)
              setSaving(true)
            }}
          >
            Save this view…
          </Button>
        </Popover.Dropdown>
      </Popover>
      <Modal opened={saving} onClose={() => setSaving(false)} title="Save this view">
        <SaveForm
          path={path}
          queryKey={key}
          page={page}
          filter={shown}
          editor={editor}
          onClose={() => setSaving(false)}
        />
      </Modal>
    </>
  )
}

type ListProps = {
  views: SavedView[]
  editor: boolean
  onOpen: (view: SavedView) => void
  onDelete: (view: SavedView) => void
}

function ViewList({ views, editor, onOpen, onDelete }: ListProps) {
  return (
    <ul className={classes['viewList']} aria-label="Saved views">
      {views.map((view) => (
        <li key={view.id}>
          <Button
            variant="subtle"
            color="gray"
            c="var(--mantine-color-text)"
            justify="flex-start"
            flex={1}
            size="xs"
            rightSection={view.shared && <Users size={14} aria-hidden />}
            onClick={() => onOpen(view)}
          >
            {view.name}
            {view.shared && <VisuallyHidden>(everyone’s)</VisuallyHidden>}
          </Button>
          {(editor || !view.shared) && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Delete the view ${view.name}`}
              onClick={() => onDelete(view)}
            >
              <Trash2 size={14} aria-hidden />
            </ActionIcon>
          )}
        </li>
      ))}
    </ul>
  )
}

function isSame(one: Record<string, string>, other: Record<string, string>): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}

type FormProps = {
  path: string
  queryKey: string[]
  page: SavedView['page']
  filter: Record<string, string>
  editor: boolean
  onClose: () => void
}

function SaveForm({ path, queryKey, page, filter, editor, onClose }: FormProps) {
  const [name, setName] = useState('')
  const [shared, setShared] = useState(false)
  const save = useAct(() => call<SavedView>('POST', path, { body: { page, name, filter, shared } }), {
    refresh: [queryKey],
    say: (view) => `${view.name} is saved.`,
  })
  return (
    <ActForm
      onSubmit={() => {
        if (name.trim() !== '') save.mutate(undefined, { onSuccess: onClose })
      }}
      act={save}
      fields={[]}
      verb="Save view"
      onClose={onClose}
    >
      <TextInput
        label="Name"
        placeholder="Failures of the app"
        data-autofocus
        maxLength={60}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {editor && (
        <Checkbox
          label="For everyone in the project"
          checked={shared}
          onChange={(event) => setShared(event.currentTarget.checked)}
        />
      )}
    </ActForm>
  )
}
