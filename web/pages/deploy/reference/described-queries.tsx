import { List, Stack, Text, TextInput } from '@mantine/core'
import { Search } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Fields, OperationDetails } from '../../docs/operation.tsx'
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

function Described({ query, children }: { query: DescribedQuery; children: Props['children'] }) {
  const { name, title, about, takes, gives, examples } = query
  return (
    <OperationDetails method="POST" path={`/v1/queries/${name}`} summary={title}>
      <Text style={{ whiteSpace: 'pre-line' }}>{about}</Text>
      <Fields label={`Slots of ${name}`} title="Slot" certain="required" fields={takes} />
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
    </OperationDetails>
  )
}
