import { Code, Group, Stack } from '@mantine/core'
import { Link } from 'wouter'
import { Card } from '../../../parts/text/card.tsx'
import { CopyMark } from '../../../parts/text/copy.tsx'
import { Ago } from '../../../parts/text/time.tsx'
import { paths } from '../../../browser/paths.ts'
import { sayNumber, sayType } from '../../../text/words.ts'
import classes from '../../deploy/shared/deploy.module.css'
import { SqlText } from '../sql/sql-text.tsx'
import { exampleValues } from '../slots/slots.ts'
import type { Place } from '../../deploy/shared/place.ts'
import { useDeployments } from '../../deploy/shared/queries.ts'
import { QueryLinks } from '../../../parts/query-links/query-links.tsx'
import { PlainTable } from '../../../parts/table/list.tsx'
import { Who } from '../../deploy/shared/who.tsx'
import type { Version } from '../../deploy/shared/wire.ts'

/** The facts that a caller needs: where it answers, what comes back, and by which SQL. */
export function Facts({ place, name, version }: { place: Place; name: string; version: Version }) {
  const { project, environment } = place
  const deployments = useDeployments(project.id)
  const live = deployments.data?.find((each) => each.name === name && each.environment === environment)
  const tables = Object.keys(version.tables)
  const url = `${location.origin}/v1/queries/${name}`
  return (
    <Stack gap="lg">
      <Card title="Address">
        <dl className={classes['facts']}>
          <dt>Call</dt>
          <dd>
            <Group gap={4} wrap="nowrap">
              <Code>POST {url}</Code>
              <CopyMark text={url} what="address" />
            </Group>
          </dd>
          {live !== undefined && (
            <>
              <dt>Deployed</dt>
              <dd>
                by <Who place={place} label={live.deployed_by} /> <Ago at={live.deployed_at} />
              </dd>
            </>
          )}
          <dt>Reads</dt>
          <dd>
            {tables.length === 0
              ? 'no table'
              : tables.map((table, at) => (
                  <span key={table}>
                    {at > 0 && ', '}
                    <Link href={paths.table(project.id, table)}>{table}</Link>
                  </span>
                ))}
          </dd>
          <dt>Cache</dt>
          <dd>
            {version.cache_seconds === null || version.cache_seconds === 0
              ? 'Off: every call runs the query'
              : `For up to ${sayNumber(version.cache_seconds)} s, until the data changes`}
          </dd>
        </dl>
      </Card>
      <Card title="SQL" about={`Version ${version.version}, as it answers here.`}>
        <SqlText sql={version.sql} label={`SQL of ${name}`} />
      </Card>
      <Card title="Columns" about="What comes back in each row.">
        <PlainTable
          label="Columns"
          head={['Name', 'Type']}
          rows={version.columns.map(({ name: column, type }) => [<Code key={column}>{column}</Code>, sayType(type)])}
        />
      </Card>
      <QueryLinks
        projectId={project.id}
        environment={environment}
        query={name}
        parameters={exampleValues(version.slots, version.examples[0]?.parameters)}
      />
    </Stack>
  )
}
