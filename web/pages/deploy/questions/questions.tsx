import { Stack, Title } from '@mantine/core'
import { Heading } from '../../../parts/text/heading.tsx'
import { AskedQuestions } from './asked-questions.tsx'
import { EvaluationCases } from './evaluation-cases.tsx'
import type { Place } from '../shared/place.ts'
import { Reports } from './reports.tsx'
import { Unanswered } from './unanswered.tsx'

/** The questions of people, first those that no query answered. */
export function QuestionsPage({ place }: { place: Place }) {
  const { project, environment } = place
  return (
    <>
      <Heading title="Questions" within={project.name}>
        What was asked in {environment}. A question that was refused teaches most: made an example of a query, it is
        answered from the next deployment on.
      </Heading>
      <Stack gap="xl">
        <section>
          <Title order={2} mb="sm">
            Unanswered
          </Title>
          <Unanswered place={place} />
        </section>
        <section>
          <Title order={2} mb="sm">
            Reported as wrong
          </Title>
          <Reports place={place} />
        </section>
        <section>
          <Title order={2} mb="sm">
            Evaluation cases
          </Title>
          <EvaluationCases place={place} />
        </section>
        <section>
          <Title order={2} mb="sm">
            Latest
          </Title>
          <AskedQuestions place={place} query={null} />
        </section>
      </Stack>
    </>
  )
}
