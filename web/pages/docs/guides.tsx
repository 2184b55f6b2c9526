import { Code } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Heading } from '../../parts/heading.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { paths } from '../../paths.ts'
import classes from './docs.module.css'

function Guide({ title, lead, children }: { title: string; lead: string; children: ReactNode }) {
  return (
    <article className={classes.guide}>
      <Heading title={title} within="Guides">
        {lead}
      </Heading>
      {children}
    </article>
  )
}

function Lines({ label, children }: { label: string; children: string }) {
  return (
    <div className={classes.lines}>
      <Scroll look="code" label={label}>
        {children}
      </Scroll>
    </div>
  )
}

export function ConnectGuide() {
  return (
    <Guide title="Connect an API" lead="From the address of an HTTP API to a table that queries read.">
      <h2>Look first</h2>
      <p>
        In Build, open Connections and press New connection. Give the method and the address, or paste a{' '}
        <Code>curl</Code> command. Test calls the API and shows the status, the time, the size and the answer as a tree;
        nothing is stored.
      </p>
      <h2>Say where the rows are</h2>
      <p>
        Click “use as rows” on the key that holds them. It becomes the extractor, for example <Code>data.items</Code>,
        and the table below shows what would be stored. A list of objects becomes rows, an object one row, nested values
        stay nested.
      </p>
      <h2>Fetch and keep fresh</h2>
      <ol>
        <li>Execute stores the answer as the first version of a table and shows its columns.</li>
        <li>Under Pages, say how the API goes on: by link, header, cursor, offset or page.</li>
        <li>Under Schedule, say when to fetch again. A refresh that fails leaves the last good version serving.</li>
        <li>When columns change, the table warns and names the deployed queries that read them.</li>
      </ol>
      <p>Only public addresses can be called; whoever runs the service can allow others.</p>
    </Guide>
  )
}

export function QueryGuide() {
  return (
    <Guide
      title="Write and deploy"
      lead="A query is one SELECT over the project’s tables, with slots for what callers choose."
    >
      <h2>Slots</h2>
      <p>
        Write <Code>$name</Code> where a caller decides. Each slot appears in the form beside the SQL, where its type,
        its limits, its default and the column its values come from are set.
      </p>
      <Lines label="A query with a slot">{`select region, sum(total) as revenue
from orders
where region = $region
group by region`}</Lines>
      <h2>Try</h2>
      <p>
        Ctrl-Enter runs the draft. Mistakes are marked where they are. The result shows types, rows and time, and the
        plan says how it was found.
      </p>
      <h2>Deploy</h2>
      <p>
        Deploy shows what would change for callers, who calls it, and which questions would go elsewhere. Each
        environment has a version of its own; promote takes one on to the next, roll back returns to the one before.
      </p>
    </Guide>
  )
}

export function CallGuide() {
  return (
    <Guide title="Call an endpoint" lead="Every deployed query answers under its name.">
      <Lines label="A call with curl">{`curl ${location.origin}/v1/queries/sales_by_region \\
  -H "Authorization: Bearer $SLUICE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"region": "north"}'`}</Lines>
      <h2>Where it goes</h2>
      <p>
        To production, or to the environment named in the header <Code>X-Sluice-Environment</Code>. A key that reaches
        several projects names one in <Code>X-Sluice-Project</Code>.
      </p>
      <h2>What comes back</h2>
      <p>
        JSON with <Code>data</Code> and <Code>execution_time_ms</Code>. By <Code>Accept</Code> also server-sent events,
        NDJSON, CSV, Parquet or Arrow. A result that was cut says <Code>truncated</Code>.
      </p>
      <h2>When it is refused</h2>
      <p>
        Every refusal has <Code>error</Code>, <Code>message</Code> and <Code>request_id</Code>; decide by{' '}
        <Code>error</Code> and <Code>reason</Code>. After 429 and 503 wait <Code>retry_after</Code> seconds.
      </p>
      <p>
        Snippets that work, in curl, TypeScript and Python, are on the page of each endpoint. All calls are in the{' '}
        <Link href={paths.docs('api')}>API reference</Link>.
      </p>
    </Guide>
  )
}

export function QuestionsGuide() {
  return (
    <Guide title="Ask questions" lead="One address takes plain words and picks the deployed query that answers them.">
      <Lines label="A question with curl">{`curl ${location.origin}/v1/query \\
  -H "Authorization: Bearer $SLUICE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"query": "revenue in the north", "project_id": "prj_…"}'`}</Lines>
      <h2>How it chooses</h2>
      <p>
        By the descriptions and example questions of the deployed queries, and by the values of their slots that the
        words name. With <Code>explain: true</Code> the answer tells which words gave which value. No SQL is ever
        written: what no query answers is refused, with the nearest candidates.
      </p>
      <h2>Teach it</h2>
      <ol>
        <li>Give each query a description and a few questions as people ask them.</li>
        <li>
          In Deploy, Questions lists what was not answered, in groups. One click makes a group examples of a query.
        </li>
        <li>Deploying is refused when it would take questions away from another query.</li>
      </ol>
    </Guide>
  )
}

export function KeysGuide() {
  return (
    <Guide title="Keys and limits" lead="Each application that calls has a key of its own.">
      <h2>What a key reaches</h2>
      <p>
        Projects, environments and, if you like, single queries. Fixed parameters decide slots for all of its calls, so
        that a branch sees its own rows only. The secret is shown once; keep it on a server, never in a page.
      </p>
      <h2>When it may have leaked</h2>
      <p>
        Rotate gives it a new secret and keeps the old one good for as long as you say. Disable stops it until you
        enable it again; revoke stops it for ever. Each takes effect within a second.
      </p>
      <h2>How much it may call</h2>
      <p>
        Its plan says so. Answers carry <Code>RateLimit</Code> and <Code>X-RateLimit-Remaining</Code>; beyond the limit
        a call is answered with 429 and <Code>retry_after</Code>.
      </p>
      <h2>Management tokens</h2>
      <p>
        Scripts that build and deploy use a management token, made in Settings. API keys cannot manage, and tokens
        cannot call queries.
      </p>
    </Guide>
  )
}
