import { Button, Group, Text, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { FileUp, Search } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { paths } from '../../../browser/paths.ts'
import type { Project } from '../../../client/wire.ts'
import { Heading } from '../../../parts/text/heading.tsx'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { isCommand, isUrl } from '../shared/pasted.ts'
import classes from './catalog.module.css'
import { EntryPage, type NamedEntry } from './entry-page.tsx'

const titles: Record<NamedEntry['entry']['category'], string> = {
  code: 'Code',
  work: 'Work',
  sales: 'Sales and support',
  money: 'Money',
  operations: 'Operations',
  mail: 'Mail and messages',
  data: 'Open data',
}

/** APIs that are ready: the whole catalog, or the entry that was chosen. It comes with the app, when someone wants it. */
export function CatalogPage({ project, chosen }: { project: Project; chosen: string | undefined }) {
  const catalog = useQuery({
    queryKey: ['catalog'],
    staleTime: Infinity,
    queryFn: async () => (await import('virtual:catalog')).entries,
  })
  return (
    <Loaded query={catalog}>
      {(entries) => {
        const entry = entries.find(({ name }) => name === chosen)
        return entry === undefined ? (
          <Catalog project={project} entries={entries} />
        ) : (
          <EntryPage project={project} named={entry} />
        )
      }}
    </Loaded>
  )
}

function Catalog({ project, entries }: { project: Project; entries: NamedEntry[] }) {
  const [sought, setSought] = useState('')
  const words = useDeferredValue(sought).toLowerCase().split(/\s+/)
  const found = entries.filter(({ name, entry }) => {
    const text = `${name} ${entry.title} ${entry.about} ${titles[entry.category]}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const own = (
    <Group gap="xs">
      <Button
        component={Link}
        href={paths.newFileTable(project.id)}
        variant="default"
        leftSection={<FileUp size={16} aria-hidden />}
      >
        Upload a file
      </Button>
      <Button component={Link} href={paths.connection(project.id, 'new')} variant="default">
        Another API
      </Button>
    </Group>
  )
  return (
    <>
      <Heading title="Connect" within={project.name} action={own}>
        Paste what you have, or choose an API that is ready: enter its token, get tables.
      </Heading>
      <ConnectLine project={project} sought={sought} onSeek={setSought} />
      {found.length === 0 && !isUrl(sought) && (
        <output>
          The catalog has no such API. <Link href={paths.connection(project.id, 'new')}>Connect it by its address</Link>
        </output>
      )}
      {Object.entries(titles).map(([category, title]) => {
        const inside = found.filter(({ entry }) => entry.category === category)
        if (inside.length === 0) return null
        return (
          <section key={category} aria-label={title}>
            <Title order={2} mt="lg" mb="sm">
              {title}
            </Title>
            <ul className={classes.entries}>
              {inside.map(({ name, entry }) => (
                <li key={name}>
                  <Link href={paths.catalog(project.id, name)} className={classes.entry}>
                    <strong>{entry.title}</strong>
                    <Text size="sm" c="dimmed">
                      {entry.about}
                    </Text>
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        )
      })}
    </>
  )
}

type LineProps = { project: Project; sought: string; onSeek: (sought: string) => void }

/** Searches the catalog; an address, a command or a document goes on to a connection of its own. */
function ConnectLine({ project, sought, onSeek }: LineProps) {
  const [, navigate] = useLocation()
  const isOwn = isUrl(sought) || isCommand(sought)
  const connect = (pasted: string): void =>
    navigate(paths.connection(project.id, 'new'), { state: { pasted: pasted.trim() } })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isOwn) connect(sought)
      }}
    >
      <Group gap="xs" mb="lg" wrap="nowrap" maw="46rem">
        <TextInput
          type="search"
          flex={1}
          aria-label="Search the catalog, or paste an address, curl or OpenAPI"
          placeholder="Search the catalog, or paste an address, curl or OpenAPI"
          leftSection={<Search size={16} aria-hidden />}
          value={sought}
          onPaste={(event) => {
            // A line would lose the ends of its lines.
            const text = event.clipboardData.getData('text')
            if (!isCommand(text)) return
            event.preventDefault()
            connect(text)
          }}
          onChange={(event) => onSeek(event.currentTarget.value)}
        />
        {isOwn && <Button type="submit">Connect</Button>}
      </Group>
    </form>
  )
}
