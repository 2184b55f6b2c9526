import { Button, Text } from '@mantine/core'
import { Ago } from '../../../parts/text/time.tsx'
import { sayCount, sayTime } from '../../../text/words.ts'
import type { PastRun } from '../draft/past-runs.ts'
import classes from './query.module.css'

type Props = { runs: PastRun[]; onTake: (sql: string) => void; onForget: () => void }

/** The runs before, the latest first, to be opened again. */
export function PastRuns({ runs, onTake, onForget }: Props) {
  if (runs.length === 0) return null
  return (
    <details className={classes.past}>
      <summary>Earlier runs ({runs.length})</summary>
      <ul className={classes.runs} aria-label="Earlier runs">
        {runs.map((run) => (
          <li key={run.at} className={classes.run}>
            <span className={classes.ran}>{run.sql}</span>
            <Button size="xs" variant="default" onClick={() => onTake(run.sql)}>
              Open
            </Button>
            <Text size="xs" c={run.error === null ? 'dimmed' : 'var(--sluice-danger)'}>
              <Ago at={run.at} />
              {': '}
              {run.error ?? `${sayCount(run.rows ?? 0, 'row')} in ${sayTime(run.elapsedMs ?? 0)}`}
            </Text>
          </li>
        ))}
      </ul>
      <Button size="xs" variant="subtle" color="gray" onClick={onForget}>
        Forget them
      </Button>
    </details>
  )
}
