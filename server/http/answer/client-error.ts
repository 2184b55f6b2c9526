import type { Socket } from 'node:net'
import { failures } from '../../../api/failures.ts'
import { envelopeOf, Failure } from '../../failure.ts'
import { newId } from '../../ids.ts'
import { statusWords } from '../../status-words.ts'

/** Answers what is no HTTP request at all: there is no request object yet, so the bytes are written by hand. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const failure = failureOf(error)
  const { status } = failures[failure.code]
  const requestId = newId('request')
  const body = JSON.stringify(envelopeOf(failure, requestId))
  const head = [
    `HTTP/1.1 ${status} ${statusWords(status)}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function failureOf(error: NodeJS.ErrnoException): Failure {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new Failure('headers_too_large', {
      message: 'The request headers are too large. Send fewer or shorter ones.',
    })
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Failure('invalid_request', { message: 'The request did not arrive in time.' })
  }
  return new Failure('invalid_request', { message: 'This is no HTTP request.' })
}
