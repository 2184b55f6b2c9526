import { Badge, Button, Checkbox, Code, Group, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../client/api.ts'
import { Card } from '../../parts/text/card.tsx'
import { Confirm } from '../../parts/form/confirm.tsx'
import { PlainTable } from '../../parts/table/list.tsx'
import { RefusalNotice } from '../../parts/text/refusal.tsx'
import { keys, useAct } from '../../client/queries.ts'
import type { EngineMove, MoveEngine, Project } from '../../client/wire.ts'

type Text = EngineMove['queries'][number]
/** The choice for one text that blocks a move. */
type Choice = { sql?: string; exclude?: boolean; accept?: Array<'unchecked' | 'order'> }
type Choices = Record<string, Choice>

/** The service itself takes no longer, by default. */
const timeoutMs = 300_000
const names = { duckdb: 'DuckDB', trino: 'Trino' }
const looks: Record<Text['status'], { word: string; color: string }> = {
  same: { word: 'Same', color: 'teal' },
  different: { word: 'Different', color: 'red' },
  cannot: { word: 'Cannot run', color: 'red' },
  unchecked: { word: 'Unchecked', color: 'yellow' },
  excluded: { word: 'Left out', color: 'gray' },
}

const keyOf = ({ name, version }: Text): string => (version === null ? name : `${name}, version ${version}`)

/** Which engine answers, what another would make of the queries, and the way there. */
export function EngineCard({ project }: { project: Project }) {
  const to = project.engine === 'duckdb' ? 'trino' : 'duckdb'
  return (
    <Card
      title="Engine"
      about={`${names[project.engine]} answers the queries. ${
        project.engine === 'duckdb'
          ? 'Trino is for data beyond one machine.'
          : 'DuckDB is faster where data fits one machine.'
      }`}
    >
      {project.role === 'owner' ? (
        <MoveForm key={to} project={project} to={to} />
      ) : (
        <Text c="dimmed">Owners move the project to another engine.</Text>
      )}
    </Card>
  )
}

function MoveForm({ project, to }: { project: Project; to: 'duckdb' | 'trino' }) {
  const [choices, setChoices] = useState<Choices>({})
  const [asking, setAsking] = useState(false)
  const path = `/v1/projects/${project.id}/engine`
  const [report, setReport] = useState<EngineMove>()
  const send = (search: string): Promise<EngineMove> =>
    call('POST', `${path}${search}`, { body: bodyOf(to, choices, report), timeoutMs })
  const check = useAct(() => send('?check=true'), { refresh: [] })
  const move = useAct(() => send(''), {
    refresh: [keys.projects, ['projects', project.id]],
    say: () => `${names[to]} answers the queries now.`,
  })
  const look = (): void => check.mutate(undefined, { onSuccess: setReport })
  return (
    <Stack gap="md">
      {report !== undefined && <Report report={report} choices={choices} choose={setChoices} />}
      <RefusalNotice error={check.error} />
      <Group>
        <Button variant="default" onClick={look} loading={check.isPending}>
          {report === undefined ? `Compare with ${names[to]}` : 'Compare again'}
        </Button>
        {report?.ready === true && <Button onClick={() => setAsking(true)}>Move to {names[to]}</Button>}
      </Group>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title={`Move to ${names[to]}`}
        verb={`Move to ${names[to]}`}
        act={move}
      >
        Every query is compared once more. Then drafts get their new texts and what is deployed is released anew, as one
        act. Queries that are left out stop answering.
      </Confirm>
    </Stack>
  )
}

function bodyOf(engine: 'duckdb' | 'trino', choices: Choices, report: EngineMove | undefined): MoveEngine {
  const queries = (report?.queries ?? []).flatMap((text) => {
    const choice = choices[keyOf(text)]
    if (choice === undefined) return []
    return [{ name: text.name, ...(text.version !== null && { version: text.version }), ...choice }]
  })
  return { engine, queries }
}

type Chosen = { choices: Choices; choose: (choices: Choices) => void }

function Report({ report, choices, choose }: { report: EngineMove } & Chosen) {
  const open = report.queries.filter((text) => text.blocks || choices[keyOf(text)] !== undefined)
  return (
    <Stack gap="md">
      <Text>{report.summary} Values that were not compared may still come out otherwise.</Text>
      {report.queries.length > 0 && (
        <PlainTable
          label="Queries on both engines"
          head={['Query', 'Answers in', 'On both', 'Compared', 'Because']}
          figures={['Compared']}
          whole="Because"
          rows={report.queries.map((text) => [
            keyOf(text),
            text.environments.join(', ') || 'nowhere',
            <Badge
              key="status"
              variant="light"
              tt="none"
              radius="sm"
              c="var(--mantine-color-text)"
              color={looks[text.status].color}
            >
              {looks[text.status].word}
            </Badge>,
            text.compared,
            <Because key="because" text={text} />,
          ])}
        />
      )}
      {open.map((text) => (
        <Remedy
          key={keyOf(text)}
          text={text}
          choice={choices[keyOf(text)] ?? {}}
          choose={(choice) => choose({ ...choices, [keyOf(text)]: choice })}
        />
      ))}
    </Stack>
  )
}

/** In words, and the first rows that differ. */
function Because({ text: { because, differences } }: { text: Text }) {
  const [first] = differences
  return (
    <Stack gap={4}>
      {because !== null && <span>{because}</span>}
      {first?.rows.slice(0, 3).map((row) => (
        <Code key={JSON.stringify(row)} block>
          {JSON.stringify(row.before ?? null)} → {JSON.stringify(row.after ?? null)}
        </Code>
      ))}
    </Stack>
  )
}

/** The remedies for a text that blocks the move. */
function Remedy({ text, choice, choose }: { text: Text; choice: Choice; choose: (choice: Choice) => void }) {
  const accepts = (word: 'unchecked' | 'order'): boolean => choice.accept?.includes(word) === true
  const accept = (word: 'unchecked' | 'order', on: boolean): void =>
    choose({
      ...choice,
      accept: on ? [...(choice.accept ?? []), word] : (choice.accept ?? []).filter((each) => each !== word),
    })
  return (
    <Stack gap="xs">
      <Textarea
        label={`SQL of ${keyOf(text)} on the other engine`}
        autosize
        minRows={2}
        maxRows={16}
        spellCheck={false}
        disabled={choice.exclude === true}
        value={choice.sql ?? text.sql}
        onChange={(event) => choose({ ...choice, sql: event.currentTarget.value })}
      />
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- it is the role of a component */}
      <Group gap="md" role="group" aria-label={`What to do about ${keyOf(text)}`}>
        <Checkbox
          label="Leave it out: it stops answering"
          checked={choice.exclude === true}
          onChange={(event) => choose({ ...choice, exclude: event.currentTarget.checked })}
        />
        <Checkbox
          label="Any order of rows will do"
          checked={accepts('order')}
          onChange={(event) => accept('order', event.currentTarget.checked)}
        />
        <Checkbox
          label="Move it unchecked"
          checked={accepts('unchecked')}
          onChange={(event) => accept('unchecked', event.currentTarget.checked)}
        />
      </Group>
    </Stack>
  )
}
