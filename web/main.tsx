import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/jetbrains-mono/wght.css'
import './mantine.css'
import '@mantine/notifications/styles.layer.css'
import './style.css'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { Broken } from './pages/broken.tsx'
import { openQueryClient } from './client/queries.ts'
import { cssVariables, theme } from './theme.ts'

const styleNonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
// The scroll lock behind dialogs takes its nonce from here.
setNonce(styleNonce)

/** A page that cannot be drawn leaves an empty root, so its apology has a place of its own. */
function show(place: HTMLElement, content: React.ReactNode): void {
  const root = createRoot(place, {
    onUncaughtError: (error) => {
      reportError(error)
      show(document.body.appendChild(document.createElement('div')), <Broken />)
    },
  })
  root.render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        defaultColorScheme="auto"
        colorSchemeManager={localStorageColorSchemeManager({ key: 'sluice-color-scheme' })}
        getStyleNonce={() => styleNonce}
      >
        {content}
      </MantineProvider>
    </StrictMode>,
  )
}

// After an update the files this page was built with are gone; the new page has the new ones.
addEventListener('vite:preloadError', () => location.reload())

const place = document.getElementById('root')
if (place !== null) {
  show(
    place,
    <QueryClientProvider client={openQueryClient()}>
      <Notifications position="bottom-right" autoClose={4000} limit={3} />
      <App />
    </QueryClientProvider>,
  )
}
