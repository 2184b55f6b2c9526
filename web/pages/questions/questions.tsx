import { Badge, Tabs } from '@mantine/core'
import { useAddress } from '../../parts/text/address.ts'
import { Heading } from '../../parts/text/heading.tsx'
import { AskedQuestions } from './asked-questions.tsx'
import { EvaluationCases, useCases } from './evaluation-cases.tsx'
import type { Place } from '../deploy/shared/place.ts'
import { Reports, useReports } from './reports.tsx'
import { Unanswered, useUnanswered } from './unanswered.tsx'

/** The questions of people as an inbox: first those that no query answered, with how many wait in each tab. */
export function QuestionsPage({ place }: { place: Place }) {
  const { project, environment } = place
  const { asked, choose } = useAddress()
  const waiting = useReports(project.id).data?.filter(({ status }) => status !== 'confirmed')
  const tabs = [
    { value: 'unanswered', label: 'Unanswered', count: useUnanswered(project.id, environment).data?.length },
    { value: 'reported', label: 'Reported', count: waiting?.length },
    { value: 'cases', label: 'Cases', count: useCases(project.id).data?.length },
    { value: 'latest', label: 'Latest', count: undefined },
  ]
  const shown = tabs.find(({ value }) => value === asked.get('tab'))?.value ?? 'unanswered'
  return (
    <>
      <Heading title="Questions" within={project.name}>
        What was asked in {environment}. An example of a query is answered from its next deployment on.
      </Heading>
      <Tabs
        value={shown}
        keepMounted={false}
        onChange={(tab) => choose({ tab: tab === null || tab === 'unanswered' ? '' : tab })}
      >
        <Tabs.List mb="md" aria-label="Questions">
          {tabs.map(({ value, label, count }) => (
            <Tabs.Tab
              key={value}
              value={value}
              px={{ base: 10, xs: 'md' }}
              rightSection={
                count !== undefined && (
                  <Badge variant="default" size="sm" radius="sm" className="numbers">
                    {count}
                  </Badge>
                )
              }
            >
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="unanswered">
          <Unanswered place={place} />
        </Tabs.Panel>
        <Tabs.Panel value="reported">
          <Reports place={place} />
        </Tabs.Panel>
        <Tabs.Panel value="cases">
          <EvaluationCases place={place} />
        </Tabs.Panel>
        <Tabs.Panel value="latest">
          <AskedQuestions place={place} query={null} />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}
