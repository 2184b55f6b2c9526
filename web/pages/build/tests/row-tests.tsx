import { Button, Group, Stack, Text, Title } from '@mantine/core'
import type { Project } from '../../../client/wire.ts'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { Verdict } from '../../../parts/text/verdict.tsx'
import { sayCount } from '../../../text/words.ts'
import { DeleteTest } from './delete-test.tsx'
import { RowTestLine } from './row-test.tsx'
import classes from './row-tests.module.css'
import { useRowTests, type Tested, type TestResult } from './use-row-tests.ts'

/** The tests with rows of a query or model: run on the text as it stands in the editor, and made of the last call. */
export function RowTests({ project, tested }: { project: Project; tested: Tested }) {
  const { tests, results, run, fromCall } = useRowTests(project, tested)
  const isEditor = project.role !== 'viewer'
  return (
    <section aria-label="Tests with rows" className={classes.tests}>
      <Stack gap="sm">
        <div>
          <Title order={2}>Tests</Title>
          <Text size="xs" c="dimmed">
            Rows that go in, and rows that must come out. {tested.kind === 'query' ? 'A release' : 'A change'} that does
            not pass them is refused.
          </Text>
        </div>
        <Loaded query={tests}>
          {(found) => (
            <>
              {found.length === 0 && (
                <Text c="dimmed">
                  No tests yet. {tested.kind === 'query' ? 'Make one of the last recorded call, or write' : 'Write'} a
                  file in tests/.
                </Text>
              )}
              {found.map((test) => (
                <RowTestLine
                  key={test.name}
                  test={test}
                  result={results.get(test.name) ?? null}
                  end={isEditor ? <DeleteTest project={project} test={test} /> : null}
                />
              ))}
              {isEditor && (
                <Group gap="xs">
                  {found.length > 0 && (
                    <Button
                      variant="default"
                      loading={run.isPending}
                      onClick={() => run.mutate(found.map(({ name }) => name))}
                    >
                      Run {found.length === 1 ? 'the test' : `${found.length} tests`}
                    </Button>
                  )}
                  {tested.kind === 'query' && (
                    <Button variant="default" loading={fromCall.isPending} onClick={() => fromCall.mutate()}>
                      Test from the last call
                    </Button>
                  )}
                </Group>
              )}
            </>
          )}
        </Loaded>
        <RefusalNotice error={run.error ?? fromCall.error} />
        <Outcome results={[...results.values()]} />
      </Stack>
    </section>
  )
}

function Outcome({ results }: { results: TestResult[] }) {
  if (results.length === 0) return null
  const failed = results.filter(({ passed }) => !passed).length
  const says = failed === 0 ? `${sayCount(results.length, 'test')} passed.` : `${failed} of ${results.length} failed.`
  return <Verdict says={says} mood={failed === 0 ? 'good' : 'bad'} />
}
