export {
  createClient,
  type Answer,
  type AskOptions,
  type CallOptions,
  type Chart,
  type Client,
  type ClientOptions,
  type Column,
  type Contract,
  type QuestionAnswer,
  type RowStream,
  type StreamEnd,
  type StreamStart,
} from './client.ts'
export {
  QuestionRefused,
  SluiceError,
  type Candidate,
  type ErrorBody,
  type ErrorCode,
  type LocalCode,
  type Unexpressed,
} from './errors.ts'
export { type ServerEvent } from './events.ts'
export { openTransport, type Sending, type Transport, type TransportOptions } from './transport.ts'
