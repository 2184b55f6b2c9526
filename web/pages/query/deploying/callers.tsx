import { List, Text, Title } from '@mantine/core'
import { Ago } from '../../../parts/text/time.tsx'
import type { DeployReport } from '../../deploy/shared/wire.ts'

const maxShown = 8

/** Whom a change meets: the keys that called it lately. */
export function Callers({ report: { callers, environment } }: { report: DeployReport }) {
  return (
    <section>
      <Title order={3} mb={4}>
        Who calls it
      </Title>
      {callers.length === 0 ? (
        <Text c="dimmed">No key has called it in {environment} in the last 30 days.</Text>
      ) : (
        <List spacing={2}>
          {callers.slice(0, maxShown).map(({ key_id: id, name, last_called_at: at }) => (
            <List.Item key={id}>
              <b>{name ?? id}</b>, last <Ago at={at} />
            </List.Item>
          ))}
          {callers.length > maxShown && <List.Item>and {callers.length - maxShown} more</List.Item>}
        </List>
      )}
    </section>
  )
}
