import { expect, test } from 'vitest'
import { hotCounter, hotHistogram } from '../../../server/usage/metrics/hot-metrics.ts'

test('a counter tells its children apart and escapes what they are called', () => {
  const counter = hotCounter('calls_total', 'Calls.', ['route', 'status'])
  counter.child('/a', '200').inc()
  counter.child('/a', '200').inc()
  counter.child('say "hi"\\\n', '500').inc()
  expect(counter.render()).toBe(
    [
      '# HELP calls_total Calls.',
      '# TYPE calls_total counter',
      'calls_total{route="/a",status="200"} 2',
      String.raw`calls_total{route="say \"hi\"\\\n",status="500"} 1`,
      '',
    ].join('\n'),
  )
})

test('a histogram counts each value in every bucket that it fits', () => {
  const histogram = hotHistogram('seconds', 'Times.', { labels: ['entry'], bounds: [0.1, 1, 10] })
  for (const seconds of [0.05, 0.1, 0.5, 2, 60]) histogram.child('direct').observe(seconds)
  expect(histogram.render()).toBe(
    [
      '# HELP seconds Times.',
      '# TYPE seconds histogram',
      'seconds_bucket{le="0.1",entry="direct"} 2',
      'seconds_bucket{le="1",entry="direct"} 3',
      'seconds_bucket{le="10",entry="direct"} 4',
      'seconds_bucket{le="+Inf",entry="direct"} 5',
      'seconds_sum{entry="direct"} 62.65',
      'seconds_count{entry="direct"} 5',
      '',
    ].join('\n'),
  )
})
