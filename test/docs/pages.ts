import { globSync } from 'node:fs'
import { join } from 'node:path'

/** Pages for those who change or publish it, and the list of the others. */
const notGuides = new Set(['docs/README.md', 'docs/benchmarks.md', 'docs/questions-scoring.md', 'docs/releasing.md'])

/** What users read in the app. */
export const guidePages = globSync('docs/*.md', { cwd: join(import.meta.dirname, '../..') })
  .filter((page) => !notGuides.has(page))
  .toSorted()

/** What is run. */
export const runPages = ['README.md', ...guidePages]

/** Blocks that this test cannot run, each with what does instead, or why nothing can. */
export const notRun: Array<{ page: string; begins: string; why: string }> = [
  {
    page: 'README.md',
    begins: 'npm start\nnpm test',
    why: 'The same service is started here by the quick start, and `npm test` is what runs this.',
  },
  {
    page: 'README.md',
    begins: 'SLUICE_MANAGEMENT_TOKEN=choose-a-long-secret npm start',
    why: 'The same service is started here by the command of the quick start.',
  },
  {
    page: 'docs/quick-start.md',
    begins: 'npm install ./sluice-0.2.0.tgz',
    why: '`npm test -- package` packs the package, installs it in an empty folder and starts it.',
  },
  {
    page: 'docs/quick-start.md',
    begins: 'SLUICE_MANAGEMENT_TOKEN=choose-a-long-secret npx sluice start',
    why: 'This test starts its service with it, once, before all pages.',
  },
  {
    page: 'docs/scaling.md',
    begins: 'curl -sX POST $SLUICE_URL/v1/projects -H',
    why: 'There is no Trino here; `npm test -- trino` makes projects on one.',
  },
  {
    page: 'docs/scaling.md',
    begins: 'curl -sX POST "$SLUICE_URL/v1/projects/$SLUICE_PROJECT/engine',
    why: 'There is no Trino here; `npm test -- trino` moves projects to one and back.',
  },
  {
    page: 'docs/cli.md',
    begins: 'npm install ./sluice-0.2.0.tgz',
    why: '`npm test -- package` packs the package, installs it in an empty folder and starts it.',
  },
  {
    page: 'docs/clients.md',
    begins: 'client.pandas(',
    why: 'pandas and pyarrow are not here; `npm test -- clients` installs them and calls both.',
  },
  {
    page: 'docs/mcp.md',
    begins: 'claude mcp add --transport http sluice http',
    why: 'A program of others. It writes the settings that stand below it, and those are used.',
  },
  {
    page: 'docs/mcp.md',
    begins: 'npx openapi-typescript',
    why: 'Programs of others; `npm test -- generators` installs them, and compiles and calls what they make.',
  },
  {
    page: 'docs/operate.md',
    begins: 'sudo npm install --global',
    why: 'It changes the machine. `npm test -- package` installs the package, `npm test -- deploy` checks the unit.',
  },
  {
    page: 'docs/operate.md',
    begins: 'docker build',
    why: 'Needs a daemon of others; `npm test -- container` builds the same file and starts it as closed as here.',
  },
  {
    page: 'docs/operate.md',
    begins: 'kubectl create secret',
    why: 'Needs a cluster; `npm test -- deploy` renders the chart with such values and judges what comes out.',
  },
]
