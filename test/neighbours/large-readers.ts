import { connect } from 'node:net'

/**
 * Asks for a large answer over and over on so many connections, and reads it, or never does. A process of its own: what
 * its callers do takes none of the time of who measures. Ends with its standard input.
 */
const [, , port = '', secret = '', size = '1', reads = 'yes'] = process.argv

function ask(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(
        `POST /v1/queries/large HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${secret}\r\n` +
          'content-type: application/json\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}',
      )
    })
    if (reads === 'yes') socket.resume()
    else socket.pause()
    socket.on('error', () => undefined).on('close', () => resolve())
  })
}

async function askAgain(): Promise<never> {
  for (;;) await ask()
}

process.stdin.resume().on('end', () => process.exit(0))
for (let at = 0; at < Number(size); at += 1) void askAgain()
