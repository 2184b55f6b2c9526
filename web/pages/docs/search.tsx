import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Search as SearchIcon } from 'lucide-react'
import MiniSearch from 'minisearch'
import { useDeferredValue, useState } from 'react'
import { Link } from 'wouter'
import classes from './docs.module.css'
import { excerptOf } from './excerpt.ts'
import { searchGuides, searchOptions, type GuideSection } from './guide.ts'

const shownResults = 8

/** Looks into every guide, in the browser: the index comes with the app, when someone first wants it. */
export function Search() {
  const [sought, setSought] = useState('')
  const [isWanted, setIsWanted] = useState(false)
  const words = useDeferredValue(sought).trim()
  const index = useQuery({
    queryKey: ['guides-index'],
    staleTime: Infinity,
    enabled: isWanted,
    queryFn: async () => {
      const { index: written } = await import('virtual:guides-index')
      return MiniSearch.loadJSON<GuideSection>(written, searchOptions)
    },
  })
  return (
    <search className={classes.search}>
      <TextInput
        aria-label="Search the guides"
        placeholder="Search the guides"
        leftSection={<SearchIcon size={16} aria-hidden />}
        value={sought}
        onFocus={() => setIsWanted(true)}
        onChange={(event) => setSought(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setSought('')
        }}
      />
      {words !== '' && index.data !== undefined && (
        <Results index={index.data} words={words} onChosen={() => setSought('')} />
      )}
    </search>
  )
}

type ResultsProps = { index: MiniSearch<GuideSection>; words: string; onChosen: () => void }

function Results({ index, words, onChosen }: ResultsProps) {
  const found = searchGuides(index, words).slice(0, shownResults)
  return (
    <div className={classes.results}>
      {found.length === 0 && <output>Nothing found for “{words}”.</output>}
      <ul aria-label="Found in the guides">
        {found.map((hit) => (
          <li key={String(hit.id)}>
            <Link href={`/docs/${hit.id}`} onClick={onChosen}>
              <strong>{hit['heading'] === '' ? hit['title'] : `${hit['title']}: ${hit['heading']}`}</strong>
              <span>{excerptOf(String(hit['text']), hit.terms)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}
