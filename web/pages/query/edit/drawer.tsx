import { CloseButton, Stack, Text } from '@mantine/core'
import type { Project } from '../../../client/wire.ts'
import shared from '../../build/shared/build.module.css'
import type { Query } from '../../build/shared/wire.ts'
import { RowTests } from '../../build/tests/row-tests.tsx'
import type { QueryDraft } from '../draft/use-query-draft.ts'
import { AdviceList } from './advice.tsx'
import { CacheSetting } from './cache-setting.tsx'
import { Description } from './description.tsx'
import { Examples } from './examples.tsx'
import classes from './query.module.css'

export type Drawn = 'questions' | 'tests' | 'settings'

const titles: Record<Drawn, string> = { questions: 'Questions', tests: 'Tests', settings: 'Settings' }

type Props = { project: Project; query: Query | null; draft: QueryDraft; drawn: Drawn; onClose: () => void }

/** Beside the SQL, which goes on being edited. */
export function Drawer({ project, query, draft, drawn, onClose }: Props) {
  const { content, change, editor } = draft
  return (
    <aside className={`${shared.panel} ${classes.drawer}`} aria-label={titles[drawn]}>
      <CloseButton className={classes.close ?? ''} aria-label="Close the drawer" onClick={onClose} />
      {drawn === 'questions' && query !== null ? (
        <Stack gap="xl">
          <Examples project={project} name={query.name} draft={draft} />
          {editor && <AdviceList project={project} query={query} draft={draft} />}
        </Stack>
      ) : drawn === 'tests' && query !== null ? (
        <RowTests
          project={project}
          tested={{ kind: 'query', name: query.name, sql: content.sql, slots: content.slots }}
        />
      ) : (
        <Stack gap="lg">
          <Text fw={600}>Settings</Text>
          <Description
            key={draft.generation}
            value={content.description}
            disabled={!editor}
            onChange={(description) => change({ description })}
          />
          <CacheSetting
            value={content.cache_seconds}
            disabled={!editor}
            onChange={(seconds) => change({ cache_seconds: seconds })}
          />
        </Stack>
      )}
    </aside>
  )
}
