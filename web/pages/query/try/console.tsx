import { Card } from '../../../parts/text/card.tsx'
import type { Place } from '../../deploy/shared/place.ts'
import type { Version } from '../../deploy/shared/wire.ts'
import { CallForm } from '../call/call-form.tsx'
import { useCaller } from '../call/call.tsx'
import { headersOf, pathOf, type CallTarget } from '../call/snippet-text.ts'
import { Snippets } from '../call/snippets.tsx'

type Props = {
  place: Place
  name: string
  content: Version
  /** The initial values; else those of the first example. */
  values?: Record<string, unknown> | undefined
}

/** Calls an endpoint as oneself or with a key, and shows the same call in code. */
export function Console({ place: { project, environment, editor }, name, content, values }: Props) {
  const { key, field } = useCaller(editor)
  const target: CallTarget = { kind: 'direct', projectId: project.id, environment, name }
  return (
    <CallForm
      name={name}
      slots={content.slots}
      values={values ?? content.examples[0]?.parameters}
      request={(body) =>
        key === null
          ? {
              // The deployed version, not the draft: its SQL and slots go along.
              path: `/v1/projects/${project.id}/queries/${name}/preview`,
              headers: {},
              body: { parameters: body, sql: content.sql, slots: content.slots },
              key: null,
            }
          : { path: pathOf(target), headers: headersOf(target), body, key }
      }
      ready={key !== ''}
      caller={field}
      projectId={project.id}
      chart={content.chart}
    >
      {(body) => (
        <Card title="From your code" about="The same call. Put an API key into the environment as SLUICE_API_KEY.">
          <Snippets target={target} body={body} />
        </Card>
      )}
    </CallForm>
  )
}
