import { Text } from '@mantine/core'
import { sayCount } from '../../../text/words.ts'
import type { Explained } from '../../build/shared/wire.ts'
import classes from './query.module.css'

type Step = Explained['steps'][number]

/** The plan of the engine, step by step in words, with the engine's own drawing. */
export function PlanSteps({ explained: { plan, steps } }: { explained: Explained }) {
  return (
    <div>
      <ol className={classes.steps} aria-label="Steps">
        {steps.map((step, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- a step is its place
          <li key={index}>
            <Text component="span" fw={500}>
              {sayStep(step)}
            </Text>
            {saySome(step) !== '' && (
              <Text component="span" c="dimmed">
                {' '}
                {saySome(step)}
              </Text>
            )}
            {step.estimated_rows !== null && (
              <Text size="xs" c="dimmed">
                about {sayCount(step.estimated_rows, 'row')}
              </Text>
            )}
          </li>
        ))}
      </ol>
      <details className={classes.drawing}>
        <summary>As the engine draws it</summary>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by the keyboard */}
        <section className={classes.plan} tabIndex={0} aria-label="Plan">
          {plan}
        </section>
      </details>
    </div>
  )
}

/** By how the operator is called; those that nobody has met say their own name. */
const operators: Array<[RegExp, (step: Step) => string]> = [
  [/SCAN|READ_/, ({ table }) => (table === null ? 'Read values' : `Read ${table}`)],
  [/FILTER/, () => 'Keep the rows that fit'],
  [/DELIM_JOIN|JOIN|CROSS_PRODUCT/, () => 'Join'],
  [/GROUP_BY/, () => 'Group'],
  [/AGGREGATE/, () => 'Sum up'],
  [/TOP_N/, ({ details }) => `Take the first ${details['Top'] ?? ''}`.trim()],
  [/ORDER_BY/, () => 'Sort'],
  [/LIMIT/, () => 'Stop at the limit'],
  [/WINDOW/, () => 'Compare each row with its neighbours'],
  [/UNION/, () => 'Put together'],
  [/UNNEST/, () => 'Unfold lists'],
]

function sayStep(step: Step): string {
  const known = operators.find(([pattern]) => pattern.test(step.operator))
  if (known !== undefined) return known[1](step)
  const words = step.operator.toLowerCase().replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The details of a step. Columns by number are the engine's own. */
function saySome({ details }: Step): string {
  const {
    Filters: filters,
    Conditions: on,
    Expression: where,
    Groups: by,
    'Order By': order,
    Columns: columns,
  } = details
  return [
    columns === undefined ? '' : `(${columns})`,
    filters === undefined && where === undefined ? '' : `where ${filters ?? where}`,
    on === undefined ? '' : `on ${on}`,
    by === undefined || by.includes('#') ? '' : `by ${by}`,
    order === undefined ? '' : `in the order of ${order}`,
  ]
    .filter((each) => each !== '')
    .join(' ')
}
