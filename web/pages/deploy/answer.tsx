import { Badge, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Grid } from '../../parts/grid.tsx'
import { Ago } from '../../parts/time.tsx'
import { sayCount } from '../../words.ts'
import { refusalOf, rowsOf, type Outcome } from './calls.ts'
import { Scroll } from '../../parts/scroll.tsx'

type Form = 'table' | 'json' | 'headers'

/** A long answer as text would freeze the page. */
const maxTextLength = 200_000

/** What came back: as rows, as sent, and with its headers. What is explained beside it is not said twice. */
export function Answer({ outcome, isExplained = false }: { outcome: Outcome; isExplained?: boolean }) {
  const rows = rowsOf(outcome.body)
  const refusal = refusalOf(outcome.body)
  const [wanted, setForm] = useState<Form>('table')
  const form = wanted === 'table' && rows === null ? 'json' : wanted
  const good = outcome.status < 400
  const answered = !isUnanswered(outcome.body)
  return (
    <Stack gap="sm" aria-live="polite">
      <Group justify="space-between" gap="sm">
        <Group gap="xs" className="numbers">
          <Badge
            variant="light"
            tt="none"
            radius="sm"
            size="lg"
            color={!good ? 'red' : answered ? 'tide' : 'yellow'}
            c="var(--mantine-color-text)"
          >
            {answered ? `${outcome.status} ${good ? 'OK' : (refusal?.reason ?? refusal?.error ?? '')}` : 'Not answered'}
          </Badge>
          <Facts outcome={outcome} rows={rows?.length ?? null} />
        </Group>
        <SegmentedControl
          size="xs"
          aria-label="Show the answer as"
          value={form}
          onChange={(value) => setForm(value === 'json' || value === 'headers' ? value : 'table')}
          data={[
            ...(rows === null ? [] : [{ value: 'table', label: 'Table' }]),
            { value: 'json', label: 'JSON' },
            { value: 'headers', label: 'Headers' },
          ]}
        />
      </Group>
      {refusal !== null && !isExplained && <Text>{refusal.message}</Text>}
      {form === 'table' && rows !== null && <Rows rows={rows} />}
      {form === 'json' &&
        (isExplained && rows === null ? (
          <details>
            <summary>As it was sent</summary>
            <Scroll look="code" label="Answer as JSON">
              {textOf(outcome.body)}
            </Scroll>
          </details>
        ) : (
          <Scroll look="code" label="Answer as JSON">
            {textOf(outcome.body)}
          </Scroll>
        ))}
      {form === 'headers' && (
        <Scroll look="code" label="Headers of the answer">
          {outcome.headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
        </Scroll>
      )}
    </Stack>
  )
}

/** A question that was tried is told about whatever became of it. */
function isUnanswered(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'outcome' in body && body.outcome !== 'answered'
}

function Rows({ rows }: { rows: Array<Record<string, unknown>> }) {
  if (rows.length === 0) return <Text c="dimmed">No rows fit what was asked.</Text>
  return (
    <Grid label="Rows of the answer" columns={columnsOf(rows)} count={rows.length} rowAt={(index) => rows[index]} />
  )
}

/** So many rows tell what a column holds; JSON says no more of it. */
const telling = 100

function columnsOf(rows: Array<Record<string, unknown>>): Array<{ name: string; type: string }> {
  const some = rows.slice(0, telling)
  return Object.keys(rows[0] ?? {}).map((name) => {
    const value = some.find((row) => row[name] !== null && row[name] !== undefined)?.[name]
    return { name, type: jsonTypes[typeof value] ?? 'JSON' }
  })
}

const jsonTypes: Record<string, string> = { string: 'VARCHAR', number: 'DOUBLE', boolean: 'BOOLEAN' }

function Facts({ outcome: { body, elapsedMs }, rows }: { outcome: Outcome; rows: number | null }) {
  const told = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const { execution_time_ms: runMs, version, as_of: asOf, truncated } = told
  return (
    <Text size="xs" c="dimmed">
      {[
        rows === null ? '' : `${truncated === true ? 'the first ' : ''}${sayCount(rows, 'row')}`,
        typeof runMs === 'number' ? `${runMs} ms to run` : '',
        `${elapsedMs} ms in all`,
        typeof version === 'number' ? `version ${version}` : '',
      ]
        .filter((each) => each !== '')
        .join(' · ')}
      {typeof asOf === 'string' && (
        <>
          {' · data from '}
          <Ago at={asOf} />
        </>
      )}
    </Text>
  )
}

function textOf(body: unknown): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2)
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}\n… cut off here, the table has it all` : text
}
