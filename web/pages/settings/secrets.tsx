import { Button, Text } from '@mantine/core'
import { LockKeyhole } from 'lucide-react'
import { Link } from 'wouter'
import { Empty } from '../../parts/text/empty.tsx'
import { Heading } from '../../parts/text/heading.tsx'
import { Loaded } from '../../parts/text/loaded.tsx'
import { Row, Rows } from '../../parts/table/rows.tsx'
import { paths } from '../../browser/paths.ts'
import { useDatasources } from '../../client/things.ts'
import type { Datasource, Project } from '../../client/wire.ts'

/** The credentials of other people's APIs that this project holds. */
export function SecretsSection({ project }: { project: Project }) {
  const sources = useDatasources(project.id)
  return (
    <>
      <Heading title="Secrets" within={project.name}>
        Credentials with which connections call other APIs. They are stored sealed and shown to no one again; a new one
        replaces the old.
      </Heading>
      <Loaded query={sources}>
        {(list) => {
          const holding = list
            .map((source) => ({ source, secrets: secretsOf(source) }))
            .filter(({ secrets }) => secrets.length > 0)
          return holding.length === 0 ? (
            <Empty
              icon={<LockKeyhole size={20} />}
              action={
                <Button component={Link} href={paths.data(project.id)}>
                  Go to connections
                </Button>
              }
            >
              No connection of this project uses a credential. One that does is given it under Auth.
            </Empty>
          ) : (
            <Rows label="Secrets">
              {holding.map(({ source, secrets }) => (
                <Row
                  key={source.id}
                  lead={<LockKeyhole size={16} />}
                  end={
                    project.role !== 'viewer' && (
                      <Button
                        component={Link}
                        href={paths.connection(project.id, source.id)}
                        variant="default"
                        size="xs"
                        aria-label={`Replace the secrets of ${source.name}`}
                      >
                        Replace
                      </Button>
                    )
                  }
                >
                  <Link href={paths.connection(project.id, source.id)}>{source.name}</Link>
                  <Text size="xs" c="dimmed">
                    {secrets.join(', ')}
                  </Text>
                </Row>
              ))}
            </Rows>
          )
        }}
      </Loaded>
    </>
  )
}

/** The API writes these stars for whatever it keeps to itself. */
const hidden = '***'

/** Where in the configuration something is kept secret. */
function secretsOf({ config }: Datasource): string[] {
  const found: string[] = []
  const visit = (value: unknown, path: string[]): void => {
    if (value === hidden) found.push(path.filter((part) => part !== 'value').join(' '))
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) visit(inner, [...path, name])
    }
  }
  visit(config, [])
  return found
}
