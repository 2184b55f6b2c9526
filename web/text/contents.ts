/** A guide is called like its file in `docs/`; that it is called so there, too, is under test. */
export type Entry = { page: string; title: string; about: string }
type Group = { name: string; entries: Entry[] }

export const contents: Group[] = [
  {
    name: 'Start',
    entries: [
      { page: 'quick-start', title: 'Quick start', about: 'From nothing to a question that is answered.' },
      {
        page: 'tutorial',
        title: 'Tutorial: an API to production',
        about: 'An own API, tested, released and checked in CI.',
      },
      { page: 'compared-with', title: 'Compared with', about: 'When to take this, and when to take something else.' },
      { page: 'faq', title: 'FAQ', about: 'Short answers, with the page that has the long one.' },
      { page: 'glossary', title: 'Glossary', about: 'One name for each idea.' },
    ],
  },
  {
    name: 'Build',
    entries: [
      { page: 'connect-an-api', title: 'Connect an API', about: 'A request becomes a table.' },
      { page: 'catalog', title: 'Catalog of APIs', about: 'Connections that are ready: GitHub, Stripe, and more.' },
      { page: 'recipes', title: 'Recipes', about: 'GitHub, Stripe, a Google Sheet, GraphQL, an API with login.' },
      {
        page: 'keep-data-fresh',
        title: 'Keep data fresh',
        about: 'Schedules, incremental loads, schema rules and checks.',
      },
      {
        page: 'models',
        title: 'Models',
        about: 'Tables made of tables, and tests with rows.',
      },
      { page: 'write-a-query', title: 'Write a query', about: 'SQL with slots for what callers choose.' },
      { page: 'ask-questions', title: 'Ask questions well', about: 'Descriptions, examples, and what is refused.' },
    ],
  },
  {
    name: 'Release and watch',
    entries: [
      { page: 'release-safely', title: 'Release safely', about: 'Checks, canaries, rollback.' },
      { page: 'environments', title: 'Two environments', about: 'Staging and production, in one project or two.' },
      { page: 'keys-and-limits', title: 'Keys and limits', about: 'Who may call what, and how often.' },
      { page: 'metrics-and-alerts', title: 'Metrics and alerts', about: 'What happens, and who is told.' },
    ],
  },
  {
    name: 'Use',
    entries: [
      { page: 'mcp', title: 'Queries as tools', about: 'MCP in five clients, and OpenAPI.' },
      { page: 'clients', title: 'Clients', about: 'TypeScript and Python.' },
      {
        page: 'spreadsheets',
        title: 'Excel, Sheets, pandas, DuckDB',
        about: 'Rows where people calculate, and links without a key.',
      },
      { page: 'bi-tools', title: 'BI tools', about: 'Which tool reads how: links, keys, Parquet files.' },
      { page: 'embed', title: 'Ask from your own page', about: 'One element, and tokens for browsers.' },
      { page: 'cli', title: 'The command line', about: 'A project as files in git.' },
    ],
  },
  {
    name: 'Operate',
    entries: [
      { page: 'operate', title: 'Operate it', about: 'Sizing, backup, upgrade, what to watch.' },
      { page: 'sizing', title: 'Sizing by example', about: 'Six jobs, and what each takes of a machine.' },
      {
        page: 'scaling',
        title: 'Run on several machines',
        about: 'Replicas, a bucket, and what grows with what.',
      },
      { page: 'configuration', title: 'Configuration', about: 'Every setting and limit.' },
      { page: 'security', title: 'Threat model', about: 'What could go wrong, and what stands in its way.' },
    ],
  },
  {
    name: 'Reference',
    entries: [
      { page: 'api', title: 'API reference', about: 'Conventions, and a list of every call.' },
      { page: 'calls', title: 'Every call by field', about: 'What each takes and gives.' },
      { page: 'errors', title: 'Errors', about: 'One shape, a closed list of codes.' },
      { page: 'troubleshooting', title: 'Troubleshooting', about: 'What to do, by error code.' },
    ],
  },
]

/** Made of the OpenAPI document of the server that shows it, not of a file. */
export const callsPage = 'calls'

export const entries: Entry[] = contents.flatMap((group) => group.entries)
