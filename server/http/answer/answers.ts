import { z } from 'zod'
import { errorEnvelope } from '../../../api/envelope.ts'

const error = (description: string) => errorEnvelope.describe(description)

/** The connection's own answer, whatever is asked: addresses are part of the headers. */
export const headersTooLarge = error('The headers, or the address, are too long.')

/** The answers that every management route may give besides its own. */
export const refusals = {
  400: error('Malformed or invalid.'),
  401: error('The credential is missing or not good.'),
  403: error('The role is too small.'),
  404: error('No such thing, or none the caller may know of.'),
  409: error('Contradicts what is already there.'),
  413: error('The body is too large.'),
  415: error('The body is no JSON.'),
  429: error('Too many calls.'),
  431: headersTooLarge,
  500: error('Our own failure.'),
  503: error('Busy or starting; try again.'),
}

/** Refusals of a route that runs a query. */
export const runRefusals = { ...refusals, 504: error('The query ran past its limit and was cancelled.') }

export const noContent = z.undefined().describe('Done.')
