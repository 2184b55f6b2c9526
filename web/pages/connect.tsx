import { Anchor, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { call } from '../client/api.ts'
import { Gate } from '../parts/shell/gate.tsx'
import { Loaded } from '../parts/text/loaded.tsx'
import { RefusalNotice } from '../parts/text/refusal.tsx'
import { paths } from '../browser/paths.ts'
import { useSession } from '../client/queries.ts'
import type { FinishedAuthorization, ReturnedAuthorization } from '../client/wire.ts'

/** Where an authorization server sends the browser back to: what it says is handed on, and nothing of it stays here. */
export function ConnectPage({ server }: { server: string }) {
  const [returned] = useState(() => readReturn(server))
  const session = useSession()
  // The code is worth tokens: it stays neither in the address nor in the history.
  useEffect(() => history.replaceState(null, '', location.pathname), [])
  return (
    <Loaded query={session} waiting={null}>
      {(user) =>
        user === null || returned === null ? (
          <Gate title="Nothing was connected">
            <Text>
              {user === null
                ? 'Your session here has ended. Sign in and press Connect again.'
                : 'The address holds no answer of an API. Press Connect on the connection itself.'}
            </Text>
            <Home />
          </Gate>
        ) : (
          <Finishing returned={returned} />
        )
      }
    </Loaded>
  )
}

function Finishing({ returned }: { returned: ReturnedAuthorization }) {
  const [, navigate] = useLocation()
  const finish = useMutation({
    mutationFn: () =>
      call<FinishedAuthorization>('POST', '/v1/oauth/return', { body: returned, open: true, timeoutMs: 60_000 }),
    onSuccess: ({ project_id: projectId, datasource_id: datasourceId }) =>
      navigate(`${paths.connection(projectId, datasourceId)}?part=authentication`, { replace: true }),
  })
  // An answer is good once: a page that is drawn twice must not hand it on twice.
  const begun = useRef(false)
  useEffect(() => {
    if (begun.current) return
    begun.current = true
    finish.mutate()
  }, [finish])
  return finish.error === null ? (
    <Gate title="Connecting…">
      <Text c="dimmed">The API is asked for its tokens.</Text>
    </Gate>
  ) : (
    <Gate title="Nothing was connected">
      <RefusalNotice error={finish.error} />
      <Home />
    </Gate>
  )
}

function Home() {
  return (
    <Anchor component={Link} href={paths.home}>
      Go to your projects
    </Anchor>
  )
}

function readReturn(server: string): ReturnedAuthorization | null {
  const given = new URLSearchParams(location.search)
  const [state, code, error, description] = ['state', 'code', 'error', 'error_description'].map((name) =>
    given.get(name),
  )
  if (typeof state !== 'string' || state === '') return null
  return {
    server,
    state,
    ...(typeof code === 'string' && code !== '' && { code }),
    ...(typeof error === 'string' && { error: error.slice(0, 200) }),
    ...(typeof description === 'string' && { error_description: description.slice(0, 2_000) }),
  }
}
