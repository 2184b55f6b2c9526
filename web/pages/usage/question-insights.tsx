import { Anchor, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { Card } from '../../parts/text/card.tsx'
import type { Place } from '../deploy/shared/place.ts'
import { PlainTable } from '../../parts/table/list.tsx'
import { Unanswered } from '../questions/unanswered.tsx'
import type { Metrics } from '../deploy/shared/usage-wire.ts'
import { sayShare } from '../deploy/shared/words.ts'

/** So many of each; the page of questions has the rest. */
const most = 5

/** The questions asked, the share answered, and those that were not, to be taught with one click. */
export function QuestionInsights({ place, metrics: { questions } }: { place: Place; metrics: Metrics }) {
  const { asked, answered, flagged, refused, top } = questions
  return (
    <Card
      title="Questions"
      about={
        asked === 0 ? (
          'Nothing was asked in plain words in this time.'
        ) : (
          <>
            {asked.toLocaleString('en')} asked, {sayShare(answered / asked)} answered, {refused.toLocaleString('en')}{' '}
            refused.{' '}
            {flagged > 0 &&
              `Of the answers ${sayShare(flagged / answered)} leave out a part of the question, and say so. `}
            <Anchor component={Link} href={place.to('questions')} underline="always">
              All questions
            </Anchor>
          </>
        )
      }
    >
      {asked > 0 && (
        <Stack gap="lg">
          {top.length > 0 && (
            <PlainTable
              label="Asked most"
              head={['Asked most', 'Times', 'Answered by']}
              rows={top.slice(0, most).map(({ question, count, query }) => [
                question,
                count.toLocaleString('en'),
                query ?? (
                  <Text key={question} component="span" c="dimmed">
                    none
                  </Text>
                ),
              ])}
            />
          )}
          {refused > 0 && (
            <section>
              <Title order={3} mb="xs">
                Unanswered
              </Title>
              <Unanswered place={place} most={most} />
            </section>
          )}
        </Stack>
      )}
    </Card>
  )
}
