import { expect, test } from 'vitest'
import { openStopRequests } from '../../server/process/stop-requests.ts'

function open() {
  const happened: string[] = []
  let nowMs = 0
  const requests = openStopRequests({ end: () => happened.push('end'), nowMs: () => nowMs })
  const pass = (ms: number): void => void (nowMs += ms)
  return { requests, happened, pass, stop: (by: string) => void happened.push(by) }
}

test('the first request stops, the second changes nothing, the third ends', () => {
  const { requests, happened, pass, stop } = open()
  requests.onStop(stop)
  for (const expected of [['SIGINT'], ['SIGINT'], ['SIGINT', 'end'], ['SIGINT', 'end']]) {
    requests.ask('SIGINT')
    expect(happened).toEqual(expected)
    pass(250)
  }
})

test('what the terminal, npm and the launcher each pass on is one request', () => {
  const { requests, happened, pass, stop } = open()
  requests.onStop(stop)
  for (const signal of ['SIGTERM', 'SIGTERM', 'SIGINT', 'SIGTERM'] as const) {
    requests.ask(signal)
    pass(40)
  }
  expect(happened).toEqual(['SIGTERM'])
})

test('a request during the start stops once there is something to stop', () => {
  const { requests, happened, stop } = open()
  requests.ask('SIGTERM')
  expect(happened).toEqual([])
  requests.onStop(stop)
  expect(happened).toEqual(['SIGTERM'])
})

test('a terminal that closes is no third request', () => {
  const { requests, happened, pass, stop } = open()
  requests.onStop(stop)
  for (let at = 0; at < 4; at += 1) {
    requests.askOnce('SIGHUP')
    pass(1_000)
  }
  expect(happened).toEqual(['SIGHUP'])
})
