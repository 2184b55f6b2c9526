import { spawn } from 'node:child_process'

type Environment = Readonly<Record<string, string | undefined>>

/** Whether a page can be shown here: on Linux there may be no screen, or it is at the other end of ssh. */
export function hasBrowser(environment: Environment): boolean {
  if (given(environment, 'BROWSER')) return true
  if (given(environment, 'SSH_CONNECTION')) return false
  return process.platform !== 'linux' || given(environment, 'DISPLAY') || given(environment, 'WAYLAND_DISPLAY')
}

/** Where there is no browser the caller has printed the address. */
export function openBrowser(address: string, environment: Environment): void {
  const { BROWSER: own = '' } = environment
  const [program = '', ...args] = own === '' ? (openers[process.platform] ?? ['xdg-open']) : [own]
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true })
  child.once('error', () => undefined)
  child.unref()
}

function given(environment: Environment, name: string): boolean {
  return (environment[name] ?? '') !== ''
}

const openers: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
