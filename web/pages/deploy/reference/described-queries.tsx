import { List, Stack, Text, TextInput } from '@mantine/core'
import { Search } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { PlainTable } from '../../../parts/table/list.tsx'
import docs from '../../docs/docs.module.css'
import type { Field } from '../../docs/openapi.ts'
import type { DescribedQuery } from './project-document.ts'

/** Beyond this many, one is looked for. */
const fewQueries = 8

type Props = {
  queries: DescribedQuery[]
  /** A way to call one of them. */
  children: (query: DescribedQuery) => ReactNode
}

/** Every query that answers: what it takes and gives, and a call of it. */
export function DescribedQueries({ queries, children }: Props) {
  const [sought, setSought] = useState('')
  const words = sought.trim().toLowerCase()
  const shown = queries.filter(({ name, title, about }) => `${name} ${title} ${about}`.toLowerCase().includes(words))
  return (
    <Stack gap="md">
      {queries.length > fewQueries && (
        <TextInput
          aria-label="Find a query"
          placeholder="Find a query"
          leftSection={<Search size={16} aria-hidden />}
          value={sought}
          onChange={(event) => setSought(event.currentTarget.value)}
          maw="24rem"
        />
      )}
      {shown.length === 0 && <Text c="dimmed">No query says that.</Text>}
      <div>
        {shown.map((query) => (
          <Described key={query.name} query={query}>
            {children}
          </Described>
        ))}
      </div>
    </Stack>
  )
}

/** Drawn when it is opened: there may be hundreds. */
function Described({ query, children }: { query: DescribedQuery; children: Props['children'] }) {
  const [open, setOpen] = useState(false)
  const { name, title, about, takes, gives, examples } = query
  return (
    <details className={docs.operation} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className={docs.method}>POST</span>
        <span className={docs.path}>/v1/queries/{name}</span>
        <span className={docs.summary}>{title}</span>
      </summary>
      {open && (
        <div className={docs.details}>
          <Text style={{ whiteSpace: 'pre-line' }}>{about}</Text>
          <Fields label={`Slots of ${name}`} title="Slot" fields={takes} />
          <Fields label={`Columns of ${name}`} title="Column" fields={gives} />
          {examples.length > 0 && (
            <List>
              {examples.map(({ question, parameters }) => (
                <List.Item key={question}>
                  {question}: <code>{JSON.stringify(parameters)}</code>
                </List.Item>
              ))}
            </List>
          )}
          {children(query)}
        </div>
      )}
    </details>
  )
}

function Fields({ label, title, fields }: { label: string; title: string; fields: Field[] }) {
  if (fields.length === 0) return null
  return (
    <PlainTable
      label={label}
      head={[title, 'Type', 'About']}
      rows={fields.map(({ name, type, required, about }) => [
        <span key={name}>
          <code>{name}</code>
          {required && title === 'Slot' && (
            <Text component="span" size="xs" c="dimmed">
              {' '}
              required
            </Text>
          )}
        </span>,
        type,
        about,
      ])}
    />
  )
}
