import { Badge, Group, Modal, TagsInput, Text, TextInput } from '@mantine/core'
import { Search } from 'lucide-react'
import { useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import { ActForm } from '../../../parts/form/act-form.tsx'
import { TagChoice } from '../../../parts/form/tag-choice.tsx'
import classes from './tags.module.css'

type Act = {
  mutate: (tags: string[], then: { onSuccess: () => void }) => void
  error: Error | null
  isPending: boolean
}

type DialogProps = {
  opened: boolean
  onClose: () => void
  /** The tagged thing. */
  name: string
  tags: string[]
  /** Those that are in use. */
  known: string[]
  act: Act
}

export function TagsDialog({ opened, onClose, name, ...form }: DialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={`Tags of ${name}`}>
      {opened && <TagsForm {...form} onClose={onClose} />}
    </Modal>
  )
}

function TagsForm({ tags, known, act, onClose }: Omit<DialogProps, 'opened' | 'name'>) {
  const [typed, setTyped] = useState(tags)
  return (
    <ActForm onSubmit={() => act.mutate(typed, { onSuccess: onClose })} act={act} verb="Save tags" onClose={onClose}>
      <TagsInput
        label="Tags"
        description="Words by which you sort and find it. Callers never see them."
        placeholder={typed.length === 0 ? 'finance, daily' : ''}
        data={known}
        value={typed}
        onChange={setTyped}
        maxTags={20}
        // The list of offers belongs to the dialog, for screen readers as well.
        comboboxProps={{ withinPortal: false }}
        acceptValueOnBlur
        // It would lie over the buttons before anything is typed.
        openOnFocus={false}
        data-autofocus
      />
    </ActForm>
  )
}

export function TagList({ tags }: { tags: string[] }) {
  if (tags.length === 0) return null
  return (
    <Group gap={4} component="span" display="inline-flex" className={classes.tags ?? ''}>
      {tags.map((tag) => (
        <Badge key={tag} variant="light" color="gray" radius="sm" tt="none" fw={500} className={classes.tag ?? ''}>
          {tag}
        </Badge>
      ))}
    </Group>
  )
}

export function tagsOf(items: Array<{ tags: string[] }>): string[] {
  return [...new Set(items.flatMap(({ tags }) => tags))].toSorted((one, other) => one.localeCompare(other))
}

/** From so many on, a list has a field to look for a name. */
const many = 8

/** Which of a list is looked for: by tag and by words, both in the address. */
export function useSorting<Item extends { tags: string[] }>(items: Item[], nameOf: (item: Item) => string) {
  const [path, navigate] = useLocation()
  const asked = new URLSearchParams(useSearch())
  const tag = asked.get('tag')
  const words = asked.get('find') ?? ''
  const ask = (name: 'tag' | 'find', value: string): void => {
    if (value === '') asked.delete(name)
    else asked.set(name, value)
    navigate(asked.size === 0 ? path : `${path}?${asked}`, { replace: true })
  }
  const known = tagsOf(items)
  const sought = words.trim().toLowerCase()
  return {
    known,
    shown: items.filter(
      (item) => (tag === null || item.tags.includes(tag)) && nameOf(item).toLowerCase().includes(sought),
    ),
    field: (items.length > many || known.length > 0 || words !== '') && (
      <Group gap="sm" mb="md">
        {(items.length > many || words !== '') && (
          <TextInput
            aria-label="Find by name"
            placeholder="Find by name"
            leftSection={<Search size={15} aria-hidden />}
            value={words}
            onChange={(event) => ask('find', event.currentTarget.value)}
          />
        )}
        {known.length > 0 && <TagChoice tags={known} tag={tag} onChange={(value) => ask('tag', value)} />}
      </Group>
    ),
  }
}

export function NoneFound({ what }: { what: string }) {
  return <Text c="dimmed">No {what} is called or tagged like that.</Text>
}
