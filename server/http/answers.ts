import { z } from 'zod'
import { errorEnvelope } from '../../api/envelope.ts'

const error = (description: string) => errorEnvelope.describe(description)

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
  500: error('Our own failure.'),
  503: error('Busy or starting; try again.'),
}

export const noContent = z.undefined().describe('Done.')
